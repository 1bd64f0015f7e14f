// Reads the phases of a rank's kernels.
#include "study/step/step_times.h"

#include <algorithm>

namespace infold::study {

StepTimes step_times(const work::Timeline& timeline, const PlannedStep& step, int rank) {
  StepTimes t;
  t.forward_began = t.backward_began = t.optimizer_began = sim::Time::never();
  const work::Graph& graph = timeline.graph();
  for (const work::Stream& stream : graph.script(rank).streams) {
    if (stream.kind != work::Stream::Kind::kCompute) continue;
    for (const work::OpId op : stream.ops) {
      if (static_cast<std::size_t>(op) >= step.phases.size()) continue;
      const auto& phase = step.phases[static_cast<std::size_t>(op)];
      if (!phase) continue;
      const work::Timeline::Times times = timeline.times(rank, op);
      switch (*phase) {
        case train::Phase::kForward:
          t.forward_began = sim::min(t.forward_began, times.start);
          t.forward_ended = sim::max(t.forward_ended, times.end);
          break;
        case train::Phase::kBackward:
          t.backward_began = sim::min(t.backward_began, times.start);
          break;
        case train::Phase::kOptimizer:
          t.optimizer_began = sim::min(t.optimizer_began, times.start);
          t.optimizer_ended = sim::max(t.optimizer_ended, times.end);
          break;
      }
    }
  }
  t.forward_ended = sim::min(t.forward_ended, t.backward_began);
  const auto script = static_cast<std::size_t>(graph.script_of[static_cast<std::size_t>(rank)]);
  t.backward_ended = timeline.times(rank, step.backward_ended[script]).end;
  return t;
}

std::vector<RanKernel> ran_kernels(const work::Timeline& timeline, const train::Plan& plan, int rank) {
  std::vector<RanKernel> all;
  const auto add = [&](RanKernel::What what, int index, work::OpId op) {
    if (!timeline.ran(rank, op)) return;
    const work::Timeline::Times t = timeline.times(rank, op);
    all.push_back({what, index, t.start, t.end});
  };
  for (int op = 0; op < static_cast<int>(plan.ops.size()); ++op) add(RanKernel::What::kOp, op, op);
  for (const work::Stream& stream : timeline.graph().script(rank).streams) {
    if (stream.kind != work::Stream::Kind::kCompute) continue;
    for (const work::OpId op : stream.ops) {
      const work::Operation& o = timeline.graph()[op];
      if (const auto* copy = std::get_if<work::Copy>(&o.what); copy != nullptr && !o.gradients.empty())
        add(copy->back ? RanKernel::What::kCopyBack : RanKernel::What::kCopyIn, o.gradients.front(), op);
    }
  }
  std::ranges::stable_sort(all, {}, &RanKernel::began);
  return all;
}

}  // namespace infold::study
