// PyTorch's DistributedDataParallel. Buckets are filled in reverse order of the parameters, because backward
// reaches the last ones first. A bucket is closed by the gradient that fills it. All GPUs must start the same
// reductions in the same order, so a bucket that is full waits for those before it. Unless gradients are
// views of their buckets, each is copied in as soon as it is there, in the stream of compute, and back when
// backward has ended, one bucket after the other.
#include <algorithm>
#include <utility>

#include "train/strategy/step_writer.h"

namespace infold::train {

namespace {

/// Appends the buckets of the parameters of one axis.
void add_ddp_buckets(const StepRequest& request, Axis axis, std::vector<Bucket>& buckets) {
  if (request.layout.ranks() > 1 && size_of(request.layout, axis) == 1) return;  // no other rank has them
  const std::vector<sim::Bytes> sizes = gradient_sizes(request.plan);
  std::vector<int> place(sizes.size());  // by parameter: its place in the order of readiness, from 1
  int count = 0;
  for (const GradientReady& r : request.plan.ready) place[static_cast<std::size_t>(r.parameter)] = ++count;
  bool first = true;
  Bucket open{.axis = axis};
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (request.plan.axis_of(static_cast<int>(i)) != axis) continue;
    open.parameters.push_back(static_cast<int>(i));
    open.bytes += sizes[i];
    open.gradients = std::max(open.gradients, place[i]);
    if (open.bytes < (first ? request.sync.first_bucket : request.sync.bucket)) continue;
    buckets.push_back(open);
    first = false;
    open = {.gradients = open.gradients, .axis = axis};  // those before it must be there, too
  }
  if (!open.parameters.empty()) buckets.push_back(open);
}

std::vector<Bucket> ddp_buckets(const StepRequest& request) {
  std::vector<Bucket> buckets;
  for (const Axis axis : {Axis::kReplica, Axis::kExpertReplica}) add_ddp_buckets(request, axis, buckets);
  return buckets;
}

}  // namespace

StepGraph write_ddp(const StepRequest& request) {
  const std::vector<Bucket> buckets = ddp_buckets(request);
  if (request.sync.gradient_as_view) return write_buckets(request, buckets, /*copied=*/false);
  const Plan& plan = request.plan;
  const std::vector<sim::Bytes> sizes = gradient_sizes(plan);
  StepWriter w(plan, request.layout);
  work::Graph& g = w.graph();
  std::vector<std::optional<work::OpId>> in(sizes.size());
  std::vector<std::optional<work::OpId>> marked(plan.ready.size() + 1);
  std::vector<work::OpId> reduced;
  std::vector<std::pair<work::OpId, work::OpId>> back;  // a copy, and the collective it waits for
  for (const Bucket& b : buckets) {
    auto& m = marked[static_cast<std::size_t>(b.gradients)];
    if (request.overlap && !m) m = w.marker();
    reduced.push_back(w.reduce(b, request.overlap ? std::vector{*m} : std::vector<work::OpId>{}));
    auto& collective = std::get<work::Collective>(g[reduced.back()].what);
    collective.source = collective.target = collective.buffer;
    work::Copy copy{.buffer = collective.buffer};
    for (const int p : b.parameters) {
      copy.tensor = plan.gradients[static_cast<std::size_t>(p)];
      copy.back = false;
      copy.ops_per_element = 1;  // divided by the number of GPUs on the way
      in[static_cast<std::size_t>(p)] = g.add({.what = copy, .gradients = {p}});
      copy.back = true;
      copy.ops_per_element = 0;
      back.emplace_back(g.add({.what = copy, .gradients = {p}}), reduced.back());
      copy.offset += sizes[static_cast<std::size_t>(p)];
    }
  }
  StepGraph step;
  step.backward_ended = w.run_passes(in, marked);
  if (!request.overlap) {
    for (const work::OpId r : reduced) g[r].after = {step.backward_ended};
  }
  for (const auto& [copy, reduction] : back) {
    g[copy].after = {step.backward_ended, reduction};
    w.compute().ops.push_back(copy);
  }
  w.update_after({});
  step.graph = std::move(w).graph();
  return step;
}

}  // namespace infold::train
