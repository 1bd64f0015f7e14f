// Which op of a plan each kernel of a pipeline is, and with that what is in memory while it runs.
#include <algorithm>

#include "train/pass_ops.h"
#include "train/stage_memory.h"
#include "train/strategy/pipeline.h"

namespace infold::train {

namespace {

const std::vector<work::OpId>& compute_of(const work::Graph& graph, int stage) {
  return graph.scripts[static_cast<std::size_t>(stage)].streams.front().ops;
}

}  // namespace

std::vector<std::pair<work::OpId, int>> kernels_of(const PipelinePlan& plan, const work::Graph& graph,
                                                   const PassOps& pass) {
  const Plan& part = plan.plans[static_cast<std::size_t>(plan.part_of(pass.stage, pass.pass.chunk))];
  const std::vector<work::OpId>& compute = compute_of(graph, pass.stage);
  auto at = std::ranges::lower_bound(compute, pass.first);  // operations were added in this order
  std::vector<std::pair<work::OpId, int>> kernels;
  for (const int op : pass_ops(part, pass.pass.kind)) {
    if (part.ops[static_cast<std::size_t>(op)].kernel() == nullptr) continue;
    while (at != compute.end() && !std::holds_alternative<work::Kernel>(graph[*at].what)) ++at;
    if (at == compute.end()) break;
    kernels.emplace_back(*at++, op);
  }
  return kernels;
}

MemoryCurve memory_curve(const PipelinePlan& plan, const PipelineStep& step, int stage) {
  const std::vector<Pass>& passes = plan.schedule[static_cast<std::size_t>(stage)];
  const auto bytes = stage_bytes(plan.plans_of(stage), passes, plan.spec.receives_ahead());
  MemoryCurve curve;
  for (const PassOps& written : step.passes) {
    if (written.stage != stage) continue;
    const auto pass = static_cast<std::size_t>(std::ranges::find(passes, written.pass) - passes.begin());
    const Plan& part = plan.plans[static_cast<std::size_t>(plan.part_of(stage, written.pass.chunk))];
    const std::vector<int> ops = pass_ops(part, written.pass.kind);
    const auto kernels = kernels_of(plan, step.graph, written);
    std::size_t next = 0;
    for (std::size_t i = 0; i < ops.size(); ++i) {
      if (next < kernels.size() && kernels[next].second == ops[i]) {
        curve.push_back({.op = kernels[next++].first, .passing = bytes[pass][i]});
      } else if (!curve.empty()) {  // an exchange: it counts for the kernel before it
        curve.back().passing = std::max(curve.back().passing, bytes[pass][i]);
      }
    }
  }
  return curve;
}

}  // namespace infold::train
