// Runs a step's kernels on the GPU model and reads off when each phase began and ended.
#include "study/step/train_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/sm/core.h"
#include "sim/event_queue.h"
#include "sim/sampler.h"
#include "study/step/step_times.h"
#include "study/step/step_trace.h"
#include "study/watch.h"
#include "train/plan.h"
#include "train/recipe_check.h"
#include "train/strategy/strategies.h"
#include "work/runtime.h"

namespace infold::study {

namespace {
double gigabytes(sim::Bytes n) {
  return static_cast<double>(n.count()) * 1e-9;
}

struct Span {
  sim::Time begin = sim::Time::never();
  sim::Time end;
  sim::Time length() const { return end - begin; }
};

/// No machine has more memory than this, and counts of workgroups would not fit their type.
constexpr sim::Bytes kMost = sim::Bytes::gib(64 * 1024);

sim::Time& time_of(KernelTimes& t, const train::Op& op) {
  if (std::holds_alternative<train::MatMul>(*op.kernel())) return t.products;
  if (std::holds_alternative<train::Convolve>(*op.kernel())) return t.convolutions;
  if (std::holds_alternative<train::Attend>(*op.kernel())) return t.attention;
  return t.streaming;
}

/// What would make a step fit that does not; empty if no choice of the user would.
std::string advice(const gpu::GpuSpec& gpu, const train::MemoryNeed& m, const train::Recipe& recipe) {
  // This part does not shrink with the batch.
  const sim::Bytes fixed = m.weights + m.gradients + m.optimizer;
  if (fixed + m.passing / recipe.batch <= gpu.hbm.capacity) {
    const auto room = static_cast<double>((gpu.hbm.capacity - fixed).count());
    const double per_sample = static_cast<double>(m.passing.count()) / recipe.batch;
    return fmt::format("a --batch of about {:.0f} fits; ", std::max(1.0, std::floor(room / per_sample)));
  }
  std::vector<std::string> help;
  if (recipe.optimizer == train::Optimizer::kAdam) help.emplace_back("--optimizer sgd");
  if (!recipe.has_master()) help.emplace_back("--dtype bf16");
  help.emplace_back("a GPU with more memory");
  return fmt::format("what is needed whatever the batch is too much; {} would help, ", fmt::join(help, ", "));
}
}  // namespace

double peak_flops(const gpu::GpuSpec& gpu, const train::Recipe& recipe) {
  const gpu::Precision precision = recipe.eight_bit() ? gpu::Precision::kFp8 : recipe.precision();
  return static_cast<double>(gpu.sms) * gpu::matrix_ops(gpu.sm, precision) *
         static_cast<double>(gpu.clock.count_hz());
}

sim::Status check_memory(const gpu::GpuSpec& gpu, const train::MemoryNeed& m, bool ignore_memory,
                         const std::function<std::string()>& advice) {
  const bool fits = m.total() <= gpu.hbm.capacity;
  if (fits || (ignore_memory && m.total() <= kMost)) return {};
  const std::string gathered =
      m.gathered > sim::Bytes{} ? fmt::format(", gathered {:.1f}", gigabytes(m.gathered)) : std::string();
  return sim::fail(fmt::format(
      "a step needs {:.1f} GB (weights {:.1f}, gradients {:.1f}, optimizer {:.1f}, activations {:.1f}{}), {} "
      "has {:.1f} GB{}",
      gigabytes(m.total()), gigabytes(m.weights), gigabytes(m.gradients), gigabytes(m.optimizer),
      gigabytes(m.passing), gathered, gpu.name, gigabytes(gpu.hbm.capacity),
      m.total() <= kMost ? fmt::format("; {}--ignore-memory simulates it all the same", advice())
                         : std::string()));
}

sim::Result<TrainResult> run(const gpu::GpuSpec& gpu, const TrainJob& job, const KeepGoing& keep_going) {
  if (auto checked = train::check_recipe(gpu, *job.graph, job.recipe); !checked)
    return sim::fail_as(std::move(checked));
  const train::Plan plan = train::make_plan(*job.graph, job.recipe);
  TrainResult result;
  result.memory = memory_need(plan);
  if (auto fits = check_memory(gpu, result.memory, job.ignore_memory,
                               [&] { return advice(gpu, result.memory, job.recipe); });
      !fits)
    return sim::fail_as(std::move(fits));
  sim::EventQueue events;
  gpu::Core core(gpu, events, {});
  work::Runtime runtime(train::write_alone(plan), core, {});
  runtime.start();
  std::optional<sim::TraceRecorder> trace;
  std::optional<sim::Sampler> sampler;
  if (job.trace) {
    trace.emplace(*job.trace);
    sampler.emplace(*trace, events);
    watch_core(*sampler, *trace, trace->group("gpu0"), core, [&core]() -> const gpu::Core& { return core; });
    sampler->start();
  }
  while (!core.dispatcher().idle()) {
    if (keep_going && !keep_going(runtime.kernels(0).share_ended())) return sim::interrupted();
    if (!events.run(1 << 15) && !core.dispatcher().idle())
      return sim::deadlock(core.dispatcher().who_waits());
  }
  std::map<train::Phase, Span> spans;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    const auto [ready, begin, end] = runtime.times(0, static_cast<work::OpId>(i));
    time_of(result.times, plan.ops[i]) += end - begin;
    Span& s = spans[plan.ops[i].phase];
    s.begin = sim::min(s.begin, begin);
    s.end = sim::max(s.end, end);
  }
  result.history.memory = {memory_over_time(runtime, train::memory_curve(plan), result.memory, 0)};
  result.forward = spans[train::Phase::kForward].length();
  result.backward = spans[train::Phase::kBackward].length();
  result.optimizer = spans[train::Phase::kOptimizer].length();
  result.end = spans[train::Phase::kOptimizer].end;
  result.flops = runtime.kernels(0).flops();
  result.kernels = runtime.kernels(0).kernels();
  const gpu::Traffic& t = core.memory().traffic()[gpu::Actor::kCompute];
  result.hbm_bytes = t.hbm_read + t.hbm_written;
  result.events = events.handled() - (sampler ? sampler->events() : 0);
  if (trace) {
    sampler->finish();
    record_compute(*trace, trace->track(trace->group("gpu0"), "compute stream"), *job.graph, plan,
                   ran_kernels(runtime, plan, 0), spans[train::Phase::kBackward].end);
    result.trace = std::move(trace);
  }
  return result;
}

}  // namespace infold::study
