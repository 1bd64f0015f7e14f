// Composes the step without communication, then the step; where pairs meet that are not known, they are
// profiled and the step is composed again.
#include "study/composed/composed_run.h"

#include <algorithm>
#include <utility>

#include "study/composed/composition.h"
#include "study/composed/measured_error.h"
#include "study/composed/profiler.h"
#include "study/step/step_reading.h"

namespace infold::study::composed {

namespace {

/// Every round brings new pairs only where the last one moved something beside something else.
constexpr int kMostRounds = 8;

sim::Result<std::vector<AloneResult>> compose_alone(const PlannedStep& step, const StepPrograms& programs,
                                                    Sampler& sampler, const Circumstances& circumstances) {
  work::Graph graph = work::without_communication(step.graph);
  Profiler profiler(graph, programs, sampler);
  if (auto ok = profiler.learn_alone(); !ok) return sim::fail_as(std::move(ok));
  std::vector<AloneResult> alone;
  graph.script_of.resize(1);
  for (std::size_t script = 0; script < graph.scripts.size(); ++script) {
    graph.script_of.front() = static_cast<int>(script);
    Composition composition(graph, profiler.profiles(), {.launch_gap = circumstances.launch_gap}, {});
    if (auto ok = composition.run(); !ok) return sim::fail_as(std::move(ok));
    alone.push_back({.times = step_times(composition, step, 0), .kernels = kernel_times(composition, 0)});
  }
  return alone;
}

}  // namespace

sim::Status check(const StepJob& job, const PlannedStep& step) {
  for (const work::Operation& op : step.graph.operations) {
    if (!std::holds_alternative<work::Gather>(op.what)) continue;
    return sim::fail(
        "--fidelity composed: not with --sync horovod, which forms its buckets while the step runs; "
        "--fidelity burst can");
  }
  if (job.fold == Fold::kOn)
    return sim::fail("--fidelity composed: --fold on has no effect, GPUs that do the same are one anyway");
  return {};
}

sim::Result<StepResult> run(const StepJob& job, const PlannedStep& step, const StepPrograms& programs,
                            StepResult result, const KeepGoing& keep_going) {
  ProfileStore own("");
  Sampler sampler({.system = job.system, .core = core_options(job), .burst = result.burst},
                  job.profiles != nullptr ? *job.profiles : own, keep_going);
  const Circumstances circumstances{.launch_gap = job.system->machine.gpu.launch_gap, .delays = job.delays};
  auto alone = compose_alone(step, programs, sampler, circumstances);
  if (!alone) return sim::fail_as(std::move(alone));

  Profiler profiler(step.graph, programs, sampler);
  if (auto ok = profiler.learn_alone(); !ok) return sim::fail_as(std::move(ok));
  const ProgramOf program_of = [&](int rank, work::OpId op) -> const coll::Program& {
    return programs.at(step.graph, rank, op).program;
  };
  std::optional<Composition> composition;
  for (int round = 0; round < kMostRounds; ++round) {
    composition.emplace(step.graph, profiler.profiles(), circumstances, program_of);
    if (auto ok = composition->run(); !ok) return sim::fail_as(std::move(ok));
    auto learned = profiler.learn(composition->meetings(), composition->end());
    if (!learned) return sim::fail_as(std::move(learned));
    if (!*learned) break;
  }
  read_times(job, step, *composition, programs, *alone, 1, result);
  result.buckets = read_buckets(*composition, programs, step.gradient_bytes);
  result.fidelity = Fidelity::kComposed;
  result.fidelity_error = measured_error(job);
  result.simulated = job.gpus;
  result.events = static_cast<std::uint64_t>(sampler.events());
  result.packet_hops = static_cast<std::uint64_t>(sampler.packet_hops());
  return result;
}

}  // namespace infold::study::composed
