// Writes buckets in the order in which gradients become complete, then the sums between stages.
#include "train/strategy/stage_gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace infold::train {

using work::OpId;

sim::Bytes StageGradients::bytes_of(int part, ParameterId p) const {
  const Plan& plan = step_.request.plan.plans[static_cast<std::size_t>(part)];
  return sim::Bytes{plan.parameter_elements[static_cast<std::size_t>(p)] * plan.recipe.gradient_bytes()};
}

bool StageGradients::is_full(const Bucket& open) const {
  if (!sharded()) return open.bytes >= step_.request.sync.bucket;
  return open.bytes.count() / gradient_bytes() >= bucket_elements(step_.request.sync, shards_of(open.axis));
}

/// Shards of what two stages hold are summed between these, so they must be cut alike: it has a bucket of its
/// own, as in Megatron-LM.
bool StageGradients::is_shared(int part, ParameterId p) const {
  const int model = this->part(part).parameters[static_cast<std::size_t>(p)];
  const auto& shared = step_.shared.of(stage_);
  return sharded() && std::ranges::find(shared, model) != shared.end();
}

void StageGradients::reduce(int part) {
  const Plan& plan = step_.request.plan.plans[static_cast<std::size_t>(part)];
  std::vector<Ready>& order = ready_[part];
  std::ranges::sort(order);
  for (const Axis axis : {Axis::kReplica, Axis::kExpertReplica}) {
    Bucket open{.axis = axis};
    for (const Ready& r : order) {
      if (plan.parameter_axis[static_cast<std::size_t>(r.parameter)] != axis) continue;
      const bool alone = is_shared(part, r.parameter);
      if (alone && !open.parameters.empty()) close(open);
      open.bytes += bytes_of(part, r.parameter);
      open.parameters.push_back(this->part(part).parameters[static_cast<std::size_t>(r.parameter)]);
      // Kernels end in their order; communication has streams of its own.
      if (!open.ready.empty() && work::communicator_of(step_.graph[open.ready.back()]) < 0)
        open.ready.pop_back();
      open.ready.push_back(r.op);
      if (alone || is_full(open)) close(open);
    }
    if (!open.parameters.empty()) close(open);
  }
}

void StageGradients::close(Bucket& open) {
  Bucket full = std::exchange(open, {.axis = open.axis});
  if (step_.request.overlap) {
    reduce(full, full.ready);
  } else {
    held_back_.push_back(std::move(full));
  }
}

void StageGradients::reduce(const Bucket& bucket, std::vector<OpId> after) {
  for (const int p : bucket.parameters) complete_[p] = bucket.ready;
  if (size_of(step_.request.layout, bucket.axis) == 1) return;
  const auto script = static_cast<std::size_t>(stage_);
  const std::size_t stream = step_.axes.stream(script, bucket.axis);
  work::Buffer memory{.bytes = bucket.bytes};
  if (sharded()) {
    const std::int64_t elements = padded(bucket.bytes.count() / gradient_bytes(), shards_of(bucket.axis));
    memory = {.bytes = sim::Bytes{elements * gradient_bytes()}, .element_bytes = gradient_bytes()};
    scattered_.push_back({bucket.axis, elements, bucket.parameters});
  }
  const work::BufferId buffer = step_.graph.add(memory);
  reduced_.push_back(step_.graph.add(
      step_.graph.scripts[script].streams[stream],
      {.what = work::Collective{.communicator = step_.axes.communicator(bucket.axis),
                                .what = sharded() ? coll::Collective::kReduceScatter
                                                  : coll::Collective::kAllReduce,
                                .buffer = buffer},
       .name = fmt::format("{} of stage {}, bucket {}", sharded() ? "reduce-scatter" : "all-reduce", stage_,
                           reduced_.size()),
       .after = std::move(after),
       .gradients = bucket.parameters}));
  for (const int p : bucket.parameters) complete_[p] = {reduced_.back()};
}

void StageGradients::reduce_shared(ParameterId p) {
  const auto holds = [&](const auto& of_part) {
    return std::ranges::count(part(of_part.first).parameters, p) > 0;
  };
  const int in = std::ranges::find_if(ready_, holds)->first;
  const auto& here = part(in).parameters;
  const auto local = static_cast<ParameterId>(std::ranges::find(here, p) - here.begin());
  const Axis axis =
      step_.request.plan.plans[static_cast<std::size_t>(in)].parameter_axis[static_cast<std::size_t>(local)];
  const int shards = shards_of(axis);
  const std::int64_t elements = bytes_of(in, local).count() / gradient_bytes();
  const sim::Bytes bytes =
      shards > 1 ? sim::Bytes{padded(elements, shards) / shards * gradient_bytes()} : bytes_of(in, local);
  const work::BufferId buffer = step_.graph.add(work::Buffer{.bytes = bytes});
  reduced_.push_back(step_.graph.add(
      step_.shared.stream(stage_, p),
      {.what = work::Collective{.communicator = step_.shared.communicator(p), .buffer = buffer},
       .name = fmt::format("all-reduce of shared parameter {}", p),
       .after = complete_[p],
       .gradients = {p}}));
}

std::vector<OpId> StageGradients::reduce_rest(OpId backward_ended) {
  for (const Bucket& b : std::exchange(held_back_, {})) reduce(b, {backward_ended});
  for (const ParameterId p : step_.shared.of(stage_)) reduce_shared(p);
  return reduced_;
}

/// Forward needs the first parameters first, and buckets begin with the last.
std::vector<OpId> StageGradients::gather(OpId updated) {
  const int weight_bytes = step_.request.plan.plans.front().recipe.read_weight_bytes();
  std::vector<OpId> gathered;
  for (std::size_t i = scattered_.size(); i-- > 0;) {
    const Shards& s = scattered_[i];
    const auto script = static_cast<std::size_t>(stage_);
    const std::size_t stream = step_.axes.stream(script, s.axis);
    const work::BufferId buffer = step_.graph.add(
        work::Buffer{.bytes = sim::Bytes{s.elements * weight_bytes}, .element_bytes = weight_bytes});
    gathered.push_back(
        step_.graph.add(step_.graph.scripts[script].streams[stream],
                        {.what = work::Collective{.communicator = step_.axes.communicator(s.axis),
                                                  .what = coll::Collective::kAllGather,
                                                  .buffer = buffer},
                         .name = fmt::format("all-gather of stage {}, bucket {}", stage_, i),
                         .after = {updated},
                         .weights = s.parameters}));
  }
  return gathered;
}

}  // namespace infold::train
