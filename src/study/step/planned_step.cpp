// Asks the strategy for the graph.
#include "study/step/planned_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "study/step/step_programs.h"
#include "study/step/step_run.h"
#include "train/strategy/pipeline.h"
#include "train/strategy/sharding.h"
#include "train/strategy/step_memory.h"
#include "train/strategy/strategies.h"
#include "work/check.h"
#include "work/communications.h"

namespace infold::study {

namespace {

/// Whether gradients are copied into memory of their own to be reduced.
bool copies(const work::Graph& graph) {
  return std::ranges::any_of(graph.operations, [](const work::Operation& op) {
    return std::holds_alternative<work::Copy>(op.what) || std::holds_alternative<work::Gather>(op.what);
  });
}

sim::Result<PlannedStep> plan_pipeline(const StepJob& job, const train::Split& split) {
  if (job.sync.kind != train::SyncKind::kDdp && job.sync.kind != train::SyncKind::kZero1)
    return sim::fail(
        "a pipeline adds up the gradients of its micro-batches: --pp goes with --sync ddp or zero1");
  auto plan = train::plan_pipeline(*job.graph, train::sharded(job.recipe, job.sync, job.layout), job.pipeline,
                                   job.layout.pp, split);
  if (!plan) return sim::fail(plan.error());
  train::PipelineStep step =
      train::write_pipeline({.plan = *plan, .layout = job.layout, .sync = job.sync, .overlap = job.overlap});
  PlannedStep planned;
  planned.phases.resize(step.graph.operations.size());
  for (std::size_t s = 0; s < step.graph.scripts.size(); ++s) {
    for (const work::Stream& stream : step.graph.scripts[s].streams) {
      if (stream.kind != work::Stream::Kind::kCompute) continue;
      std::optional<train::Phase> phase;
      auto pass = std::ranges::find(step.passes, static_cast<int>(s), &train::PassOps::stage);
      for (const work::OpId op : stream.ops) {
        if (op == step.backward_ended[s]) {
          phase = train::Phase::kOptimizer;
          continue;
        }
        const bool in_pass = pass != step.passes.end() && pass->stage == static_cast<int>(s);
        if (in_pass && op == pass->first) {
          phase =
              pass->pass.kind == train::PassKind::kForward ? train::Phase::kForward : train::Phase::kBackward;
        }
        if (std::holds_alternative<work::Kernel>(step.graph[op].what))
          planned.phases[static_cast<std::size_t>(op)] = phase;
        if (in_pass && op == pass->last) ++pass;
      }
    }
  }
  for (int s = 0; s < job.layout.pp; ++s) {
    const train::MemoryNeed need = memory_need(*plan, s);
    if (need.total() > planned.memory.total()) planned.memory = need;
    planned.needs.push_back(need);
    planned.memory_curves.push_back(memory_curve(*plan, step, s));
  }
  planned.graph = std::move(step.graph);
  planned.backward_ended = std::move(step.backward_ended);
  planned.step_ended = std::move(step.step_ended);
  planned.passes = std::move(step.passes);
  planned.gradient_bytes = plan->plans.front().recipe.gradient_bytes();
  planned.pipeline = *std::move(plan);
  return planned;
}

sim::Result<PlannedStep> plan_one_script(const StepJob& job, const train::Split& split) {
  auto plan = train::make_plan(*job.graph, train::sharded(job.recipe, job.sync, job.layout), split);
  if (!plan) return sim::fail(plan.error());
  const train::StepRequest request{
      .plan = *plan, .layout = job.layout, .sync = job.sync, .overlap = job.overlap};
  train::StepGraph step = train::write_step(request);
  PlannedStep planned;
  planned.memory = memory_need(request, step);
  if (train::sharding_of(job.sync.kind) == train::Sharding::kNone && copies(step.graph)) {
    for (const sim::Bytes n : train::gradient_sizes(*plan)) planned.memory.gradients += n;
  }
  planned.needs = {planned.memory};
  planned.memory_curves = {memory_curve(request, step)};
  planned.phases.resize(step.graph.operations.size());
  for (std::size_t op = 0; op < plan->ops.size(); ++op) planned.phases[op] = plan->ops[op].phase;
  planned.graph = std::move(step.graph);
  planned.backward_ended = {step.backward_ended};
  planned.pass_ended = step.pass_ended;
  if (step.step_ended) planned.step_ended = {*step.step_ended};
  planned.gradient_bytes = plan->recipe.gradient_bytes();
  planned.plan = *std::move(plan);
  return planned;
}

}  // namespace

sim::Result<PlannedStep> plan_step(const StepJob& job) {
  if (auto ok = train::check_sync(job.sync, job.layout); !ok) return sim::fail_as(std::move(ok));
  if (job.sync.kind != train::SyncKind::kDdp && train::size_of(job.layout, train::Axis::kReplica) == 1) {
    return sim::fail(fmt::format("--sync {}: with dp 1 no two GPUs have the same parameters",
                                 sim::name_of(job.sync.kind)));
  }
  const train::Split split = train::split_of(job.layout, job.sequence_parallel, job.expert_skew,
                                             job.key_exchange, job.expert_exchange);
  auto planned = job.layout.pp > 1 ? plan_pipeline(job, split) : plan_one_script(job, split);
  if (!planned) return planned;
  if (auto ok = work::check(planned->graph); !ok) return sim::fail_as(std::move(ok));
  return planned;
}

int used_communicators(const work::Graph& graph) {
  std::set<work::CommunicatorId> used;
  for (const work::Operation& op : graph.operations) {
    if (const work::CommunicatorId c = work::communicator_of(op); c >= 0) used.insert(c);
  }
  return static_cast<int>(used.size());
}

sim::Bytes ring_bytes(const work::Graph& graph) {
  sim::Bytes sum;
  const auto add = [&](const work::Operation& op, sim::Bytes bytes, std::size_t ranks) {
    const auto others = static_cast<std::int64_t>(ranks) - 1;
    const auto* c = std::get_if<work::Collective>(&op.what);
    if (c == nullptr) {
      sum += bytes;
    } else {
      sum += bytes * (c->what == coll::Collective::kAllReduce ? 2 * others : others);
    }
  };
  for (const work::Operation& op : graph.operations) {
    const work::CommunicatorId c = work::communicator_of(op);
    if (c < 0) continue;
    for (const auto& group : graph.communicators[static_cast<std::size_t>(c)].groups) {
      if (const auto* g = std::get_if<work::Gather>(&op.what)) {
        for (const work::Gather::Part& p : g->parts) add({.what = work::Collective{}}, p.bytes, group.size());
      } else {
        add(op, graph.buffers[static_cast<std::size_t>(work::buffer_of(op))].bytes, group.size());
      }
    }
  }
  return sum;
}

}  // namespace infold::study
