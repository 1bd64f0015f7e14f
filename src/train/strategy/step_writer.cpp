// Compute, markers, collectives and the update.
#include "train/strategy/step_writer.h"

#include <fmt/format.h>

#include <numeric>

#include "sim/check.h"

namespace infold::train {

StepWriter::StepWriter(const Plan& plan, int ranks) : plan_(plan) {
  graph_.tensors = plan.tensors;
  graph_.script_of.assign(static_cast<std::size_t>(ranks), 0);
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  graph_.communicators.push_back({.name = "data parallel", .groups = {std::move(all)}});
  using Kind = work::Stream::Kind;
  graph_.scripts = {{.streams = {{.name = "compute", .kind = Kind::kCompute},
                                 {.name = "communication", .kind = Kind::kCommunication, .communicator = 0},
                                 {.name = "copies", .kind = Kind::kBeside},
                                 {.name = "host", .kind = Kind::kHost}}}};
  for (const Op& op : plan.ops) {
    graph_.add(work::Operation{
        .what =
            work::Kernel{.what = op.work, .precision = plan.recipe.precision(), .batch = plan.recipe.batch}});
  }
  for (const GradientReady& r : plan.ready) graph_[r.op].gradients.push_back(r.parameter);
}

work::OpId StepWriter::marker() {
  return graph_.add(work::Operation{.what = work::Marker{}});
}

work::OpId StepWriter::run_passes(const std::vector<std::optional<work::OpId>>& copy,
                                  const std::vector<std::optional<work::OpId>>& marked) {
  std::size_t ready = 0;
  std::vector<work::OpId>& ops = compute().ops;
  for (int op = 0; op < plan_.first_op(Phase::kOptimizer); ++op) {
    ops.push_back(op);
    for (; ready < plan_.ready.size() && plan_.ready[ready].op == op; ++ready) {
      if (const auto& c = copy[static_cast<std::size_t>(plan_.ready[ready].parameter)]) ops.push_back(*c);
      if (const auto& m = marked[ready + 1]) ops.push_back(*m);
    }
  }
  INFOLD_CHECK(ready == plan_.ready.size(), "every gradient is complete when backward has ended");
  return graph_.add(compute(), {.what = work::Marker{}, .name = "end of backward"});
}

void StepWriter::update_after(std::vector<work::OpId> done) {
  const int first = plan_.first_op(Phase::kOptimizer);
  for (int op = first; op < static_cast<int>(plan_.ops.size()); ++op) compute().ops.push_back(op);
  if (first == static_cast<int>(plan_.ops.size())) return;
  work::Operation& update = graph_[first];
  update.name = "update of the weights";
  update.after = std::move(done);
  update.updates = true;
  for (const GradientReady& r : plan_.ready) update.gradients.push_back(r.parameter);
}

work::OpId StepWriter::reduce(const Bucket& bucket, std::vector<work::OpId> after) {
  const work::BufferId buffer = graph_.add(work::Buffer{bucket.bytes});
  return graph_.add(communication(), {.what = work::Collective{.communicator = 0, .buffer = buffer},
                                      .name = fmt::format("all-reduce of bucket {}", buffer),
                                      .after = std::move(after),
                                      .gradients = bucket.parameters});
}

StepGraph write_buckets(const StepRequest& request, const std::vector<Bucket>& buckets, bool copied) {
  const std::size_t gradients = request.plan.ready.size();
  StepWriter w(request.plan, request.ranks);
  std::vector<std::optional<work::OpId>> marked(gradients + 1);
  for (const Bucket& b : buckets) {
    auto& m = marked[static_cast<std::size_t>(b.gradients)];
    if (request.overlap && !m) m = w.marker();
  }
  StepGraph step;
  step.backward_ended = w.run_passes(std::vector<std::optional<work::OpId>>(gradients), marked);
  std::vector<work::OpId> done;
  for (const Bucket& b : buckets) {
    const work::OpId when =
        request.overlap ? *marked[static_cast<std::size_t>(b.gradients)] : step.backward_ended;
    const work::OpId reduced = w.reduce(b, {when});
    if (!copied) {
      done.push_back(reduced);
      continue;
    }
    work::Graph& g = w.graph();
    work::Copy copy = work::whole_bucket(g, std::get<work::Collective>(g[reduced].what).buffer);
    g[reduced].after = {g.add(w.copies(), {.what = copy, .after = {when}, .gradients = b.parameters})};
    copy.back = true;
    copy.ops_per_element = 0;
    done.push_back(g.add(w.copies(), {.what = copy, .after = {reduced}, .gradients = b.parameters}));
  }
  w.update_after(std::move(done));
  step.graph = std::move(w).graph();
  return step;
}

}  // namespace infold::train
