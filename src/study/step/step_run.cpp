// Runs a step alone on one GPU and then on the machine, and reads off what happened.
#include "study/step/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/machine.h"
#include "sim/check.h"
#include "study/step/step_trace.h"
#include "study/step/train_run.h"
#include "study/step/training_step.h"
#include "train/plan.h"

namespace infold::study {

namespace {

/// Of the bar, about, that the step without communication takes.
constexpr double kAloneShare = 0.15;
constexpr std::uint64_t kStepEventsPerLook = 1 << 17;  // events between two looks at the user

/// Nobody listens to a GPU that reduces nothing.
class Nobody final : public GpuStep::Owner {
  void gradients_ready(int, int) override {}
  void backward_ended(int) override {}
};

/// Requires: schedule.in_advance, or copies are not made one by one.
sim::Result<AloneResult> run_alone(const StepJob& job, const train::Plan& plan,
                                   const BucketSchedule& schedule, const BucketPrograms& programs,
                                   const KeepGoing& keep_going) {
  sim::EventQueue events;
  gpu::Core core(job.system->machine.gpu, events, {});
  Nobody nobody;
  GpuStep step(0, core, plan, nobody);
  // Memory is laid out as beside collectives, so that nothing else differs.
  const std::vector<sim::Bytes> sizes = gradient_sizes(plan);
  for (const train::Bucket& b : schedule.buckets) {
    const coll::Buffers::Sizes need = coll::buffers_for(programs[b.bytes].program);
    const std::uint64_t buffer = core.addresses().buffer(sim::max(need.input, need.output));
    sim::Bytes offset;
    for (const int p : b.parameters) {
      if (copies_one_by_one(job.sync)) step.copy_to_bucket(p, buffer, offset);
      offset += sizes[static_cast<std::size_t>(p)];
    }
  }
  step.start(sim::Time{});
  step.optimize();
  while (!core.dispatcher().idle()) {
    if (keep_going && !keep_going(kAloneShare * step.share())) return sim::interrupted();
    if (!events.run(kStepEventsPerLook) && !core.dispatcher().idle())
      return sim::deadlock(core.dispatcher().who_waits());
  }
  return AloneResult{step.times(), events.handled()};
}

/// What the buckets send, about where they are not known in advance: a ring sends its data twice.
sim::Bytes bytes_to_send(const BucketSchedule& schedule, const BucketPrograms& programs, sim::Bytes all) {
  if (!schedule.in_advance) return all * 2;
  sim::Bytes sum;
  for (const train::Bucket& b : schedule.buckets) sum += bytes_sent(programs[b.bytes].program);
  return sum;
}

/// How much of a step is done, for a progress bar: half of it is computing, which takes about as long as
/// alone, and half is sending.
double share_of(gpu::Machine& machine, const StepTimes& alone, sim::Bytes to_send) {
  std::uint64_t sent = 0;
  for (int g = 0; g < machine.gpus(); ++g)
    sent += machine.network().payload_sent(static_cast<net::NodeId>(g));
  const double computed = machine.events().now().in_s() / std::max(alone.backward_ended.in_s(), 1e-12);
  const double moved = static_cast<double>(sent) / std::max(1.0, static_cast<double>(to_send.count()));
  return (std::min(computed, 1.0) + std::min(moved, 1.0)) / 2;
}

/// Reserved SMs are a way to share them.
gpu::CoreOptions options_of(const StepJob& job) {
  gpu::CoreOptions core = job.core;
  if (!core.contention.sm) core.reserved_sms = 0;
  return core;
}

bool in_network(const StepJob& job) {
  return job.method.algorithm != nullptr && job.method.algorithm->in_network;
}

/// Packets over links that a ring would take, acknowledgements counted.
std::int64_t packet_hops_of(const StepJob& job, sim::Bytes gradients) {
  const net::FabricSpec& fabric = job.system->machine.fabric;
  const std::int64_t packets = gradients.count() / fabric.packet.payload.count() * 2 * (job.gpus - 1);
  return packets * job.system->plan().routes().diameter() * 2;
}

/// Up to this many packets over links every GPU is simulated: in bursts, some ten seconds.
constexpr std::int64_t kManyPacketHops = 1'000'000'000;

/// How many of n GPUs stand for all: the least that divides it and is not so small that the last of them to
/// be ready comes much earlier than the last of all would. (Two come 5 % earlier on gpt2-xl, four 2 %.)
int stand_ins(int n) {
  int d = 4;
  while (d < n && n % d != 0) ++d;
  return std::min(d, n);
}

/// Whether GPUs may stand for each other: all do the same, at the same time, and no pair of them is nearer
/// than any other.
bool may_fold(const StepJob& job, const BucketSchedule& schedule, std::int64_t packet_hops,
              sim::Bytes burst) {
  if (job.fold == Fold::kOff || !job.delays.empty() || !schedule.in_advance) return false;
  if (stand_ins(job.gpus) == job.gpus) return false;
  if (job.system->machine.fabric.topology != net::Topology::kSwitchPlanes) return false;
  return job.fold == Fold::kOn || (burst > sim::Bytes{} && packet_hops > kManyPacketHops);
}

sim::Status check_options(const StepJob& job) {
  const int sms = job.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return sim::fail(
        fmt::format("{} of {} SMs can not be reserved: one must be left", job.core.reserved_sms, sms));
  return {};
}

sim::Time overlap_of(sim::Time a, sim::Time b, sim::Time c, sim::Time d) {
  const sim::Time begin = sim::max(a, c);
  const sim::Time end = sim::min(b, d);
  return end > begin ? end - begin : sim::Time{};
}

std::vector<BucketResult> read_buckets(const Reducer& reducer, int gpus) {
  std::vector<BucketResult> buckets;
  for (int b = 0; b < reducer.buckets(); ++b) {
    BucketResult r{
        .bytes = reducer.bytes(b), .choice = reducer.entry(b).choice, .ready = {}, .start = {}, .end = {}};
    for (int g = 0; g < gpus; ++g) {
      const Reducer::Turn& t = reducer.turn(b, g);
      r.ready = sim::max(r.ready, t.ready);
      r.start = sim::max(r.start, t.start);
      r.end = sim::max(r.end, t.end);
    }
    buckets.push_back(r);
  }
  return buckets;
}

void read_times(const StepJob& job, const TrainingStep& step, const gpu::Machine& machine, StepResult& r) {
  int slowest = 0;
  StepTimes times = step.gpu(0).times();
  sim::Time backward_ended;
  sim::Time optimizer_began;
  for (int g = 0; g < job.gpus; ++g) {
    const StepTimes t = step.gpu(g).times();
    backward_ended = sim::max(backward_ended, t.backward_ended);
    optimizer_began = sim::max(optimizer_began, t.optimizer_began);
    r.end = sim::max(r.end, t.optimizer_ended);
    if (t.backward() <= times.backward()) continue;
    slowest = g;
    times = t;
  }
  r.forward = times.forward();
  r.backward = times.backward();
  r.optimizer = times.optimizer();
  const sim::Time launch = job.system->machine.gpu.launch_gap;
  r.exposed = sim::max(optimizer_began - backward_ended, launch) - launch;
  for (int b = 0; b < step.reducer().buckets(); ++b) {
    const Reducer::Turn& t = step.reducer().turn(b, slowest);
    r.communicating += t.end - t.start;
    r.communicating_in_backward += overlap_of(t.start, t.end, times.backward_began, times.backward_ended);
    r.sms = std::max(r.sms, step.reducer().entry(b).program.sms());
  }
  const gpu::Gpu& gpu = machine.gpu(slowest);
  r.traffic = gpu.memory().traffic();
  r.sm_time = gpu.sm_time();
}

}  // namespace

double StepResult::slowdown_beside() const {
  const double more = backward.in_s() - alone.times.backward().in_s();
  const double beside = communicating_in_backward.in_s() - more;
  return beside > 0 ? more / beside : 0;
}

sim::Result<StepResult> run(const StepJob& job, const KeepGoing& keep_going) {
  if (auto checked = check_options(job); !checked) return sim::fail_as(std::move(checked));
  const train::Plan plan = train::make_plan(*job.graph, job.recipe);
  StepResult result;
  result.passes = job.recipe.accumulate;
  const std::vector<sim::Bytes> sizes = gradient_sizes(plan);
  sim::Bytes all;
  for (const sim::Bytes n : sizes) all += n;
  const BucketSchedule schedule = schedule_of(job.sync, plan, sizes);
  result.memory = memory_need(plan);
  const bool copied = !schedule.in_advance || std::any_of(schedule.buckets.begin(), schedule.buckets.end(),
                                                          [](const auto& b) { return b.copied; });
  if (copied) result.memory.gradients += all;
  if (auto fits = check_memory(job.system->machine.gpu, result.memory, job.recipe, job.ignore_memory); !fits)
    return sim::fail_as(std::move(fits));

  const CollectiveJob collective{
      .system = job.system,
      .algorithm = job.method.algorithm,
      .engine = job.method.engine,
      .collective = coll::Collective::kAllReduce,
      .bytes = {},
      .type = plan.recipe.gradient_bytes() == 2 ? coll::DataType::kBf16 : coll::DataType::kFp32,
      .gpus = job.gpus,
      .burst = job.burst};
  const auto go_on = [&keep_going] { return !keep_going || keep_going(0); };
  BucketPrograms programs(collective, job.protocol, go_on);
  for (const sim::Bytes n : schedule.sizes(sizes, job.sync.fusion)) {
    const auto why = programs.prepare(n);
    if (!go_on()) return sim::interrupted();
    if (why) return sim::fail(*why);
  }

  const std::int64_t packet_hops = packet_hops_of(job, all);
  result.burst = job.burst.for_hops(packet_hops);
  StepJob simulated = job;
  if (may_fold(job, schedule, packet_hops, result.burst) && programs.fold(stand_ins(job.gpus)))
    simulated.gpus = stand_ins(job.gpus);
  result.simulated = simulated.gpus;

  auto alone = run_alone(job, plan, schedule, programs, keep_going);
  if (!alone) return sim::fail_as(std::move(alone));
  result.alone = *alone;

  gpu::Machine machine(
      job.system->plan(),
      {.burst = result.burst, .functional = false, .in_network = in_network(job), .core = options_of(job)});
  TrainingStep step(simulated, machine, plan, schedule, programs);
  std::optional<StepTrace> trace;
  if (job.trace) trace.emplace(simulated, plan, machine, step);
  step.start();
  const sim::Bytes to_send = bytes_to_send(schedule, programs, all * simulated.gpus);
  while (machine.events().run(kStepEventsPerLook)) {
    const double share = share_of(machine, result.alone.times, to_send);
    if (keep_going && !keep_going(kAloneShare + (1 - kAloneShare) * share)) return sim::interrupted();
  }
  if (!step.done()) return sim::deadlock(step.who_waits());
  if (trace) result.trace = trace->finish();
  INFOLD_CHECK(machine.quiet(), "after the step nothing is in flight and all credits are home");
  read_times(simulated, step, machine, result);
  result.buckets = read_buckets(step.reducer(), simulated.gpus);
  result.events = result.alone.events + machine.events().handled() - (trace ? trace->events() : 0);
  result.packet_hops = machine.network().packet_hops();
  if (result.communicating > sim::Time{})
    result.links = use_of_links(machine, result.communicating, simulated.gpus, job.gpus);
  for (int g = 0; g < job.gpus; ++g)
    result.link_bytes += machine.network().payload_sent(static_cast<net::NodeId>(g % simulated.gpus));
  return result;
}

}  // namespace infold::study
