// Runs a step alone on one GPU and then on the machine, and reads off what happened.
#include "study/step/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "gpu/machine.h"
#include "sim/check.h"
#include "study/step/bucket_programs.h"
#include "study/step/step_trace.h"
#include "study/step/train_run.h"
#include "train/plan.h"
#include "train/recipe_check.h"
#include "train/strategy/strategies.h"
#include "work/check.h"
#include "work/runtime.h"

namespace infold::study {

namespace {

/// Of the bar, about, that the step without communication takes.
constexpr double kAloneShare = 0.15;
constexpr std::uint64_t kStepEventsPerLook = 1 << 17;  // events between two looks at the user

/// The same step on one GPU that reduces nothing. Memory is laid out as beside collectives, so that nothing
/// else differs.
sim::Result<AloneResult> run_alone(const StepJob& job, const train::Plan& plan, const train::StepGraph& step,
                                   const work::Programs& programs, const KeepGoing& keep_going) {
  sim::EventQueue events;
  gpu::Core core(job.system->machine.gpu, events, {});
  work::Runtime runtime(work::without_communication(step.graph), core, {.programs = programs});
  runtime.start();
  while (!core.dispatcher().idle()) {
    if (keep_going && !keep_going(kAloneShare * runtime.kernels(0).share_ended())) return sim::interrupted();
    if (!events.run(kStepEventsPerLook) && !core.dispatcher().idle())
      return sim::deadlock(core.dispatcher().who_waits());
  }
  return AloneResult{step_times(runtime, plan, step.backward_ended, 0), events.handled()};
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

/// Where buckets are formed as time goes by, by all GPUs together.
const work::Gather* gather_in(const work::Graph& graph) {
  for (const work::Operation& op : graph.operations) {
    if (const auto* g = std::get_if<work::Gather>(&op.what)) return g;
  }
  return nullptr;
}

/// What the buckets send, about where they are not known in advance: a ring sends its data twice.
sim::Bytes bytes_to_send(const work::Graph& graph, const BucketPrograms& programs, sim::Bytes all) {
  if (gather_in(graph) != nullptr) return all * 2;
  sim::Bytes sum;
  for (const work::Buffer& b : graph.buffers) sum += bytes_sent(programs[b.bytes].program);
  return sum;
}

/// The smallest and the largest size that may have to be reduced, or all there are.
std::set<sim::Bytes> sizes_of(const work::Graph& graph) {
  std::set<sim::Bytes> all;
  for (const work::Buffer& b : graph.buffers) all.insert(b.bytes);
  if (const work::Gather* g = gather_in(graph)) {
    sim::Bytes sum;
    for (const work::Gather::Part& p : g->parts) {
      sum += p.bytes;
      all.insert(p.bytes);
    }
    all = {*all.begin(), sim::max(*all.rbegin(), sim::min(sum, g->most))};
  }
  return all;
}

/// Whether gradients are copied into memory of their own to be reduced.
bool copies(const work::Graph& graph) {
  return gather_in(graph) != nullptr || std::ranges::any_of(graph.operations, [](const work::Operation& op) {
           return std::holds_alternative<work::Copy>(op.what);
         });
}

/// Where compute shares nothing it never learns of the collectives, and where they come after backward it
/// does not up to there: GPUs that began together stay in step.
bool undisturbed(const StepJob& job) {
  const gpu::Contention& c = job.core.contention;
  return !job.overlap || (!c.sm && !c.l2 && !c.hbm);
}

train::StepGraph graph_of(const StepJob& job, const train::Plan& plan) {
  return train::write_step({.plan = plan, .ranks = job.gpus, .sync = job.sync, .overlap = job.overlap});
}

/// Whether GPUs may stand for each other: all do the same, at the same time, and no pair of them is nearer
/// than any other.
bool may_fold(const StepJob& job, const work::Graph& graph, std::int64_t packet_hops, sim::Bytes burst) {
  if (job.fold == Fold::kOff || !job.delays.empty() || gather_in(graph) != nullptr) return false;
  if (stand_ins(job.gpus) == job.gpus) return false;
  if (job.system->machine.fabric.topology != net::Topology::kSwitchPlanes) return false;
  return job.fold == Fold::kOn || (burst > sim::Bytes{} && packet_hops > kManyPacketHops);
}

sim::Status check_options(const StepJob& job) {
  const int sms = job.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return sim::fail(
        fmt::format("{} of {} SMs can not be reserved: one must be left", job.core.reserved_sms, sms));
  return train::check_recipe(job.system->machine.gpu, *job.graph, job.recipe);
}

sim::Time overlap_of(sim::Time a, sim::Time b, sim::Time c, sim::Time d) {
  const sim::Time begin = sim::max(a, c);
  const sim::Time end = sim::min(b, d);
  return end > begin ? end - begin : sim::Time{};
}

std::vector<BucketResult> read_buckets(const work::Runtime& runtime, const BucketPrograms& programs,
                                       int element_bytes) {
  std::vector<BucketResult> buckets;
  for (const work::OpId op : runtime.communications()) {
    const sim::Bytes bytes = runtime.program(0, op).bytes;
    BucketResult r{.bytes = bytes,
                   .elements = bytes.count() / element_bytes,
                   .choice = programs[bytes].choice,
                   .ready = {},
                   .start = {},
                   .end = {}};
    for (int g = 0; g < runtime.graph().ranks(); ++g) {
      const work::Runtime::Times t = runtime.times(g, op);
      r.ready = sim::max(r.ready, t.ready);
      r.start = sim::max(r.start, t.start);
      r.end = sim::max(r.end, t.end);
    }
    buckets.push_back(r);
  }
  return buckets;
}

void read_times(const StepJob& job, const train::Plan& plan, work::OpId marker, const work::Runtime& runtime,
                const gpu::Machine& machine, StepResult& r) {
  int slowest = 0;
  StepTimes times = step_times(runtime, plan, marker, 0);
  sim::Time backward_ended;
  sim::Time optimizer_began;
  for (int g = 0; g < job.gpus; ++g) {
    const StepTimes t = step_times(runtime, plan, marker, g);
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
  for (const work::OpId op : runtime.communications()) {
    const work::Runtime::Times t = runtime.times(slowest, op);
    r.communicating += t.end - t.start;
    r.communicating_in_backward += overlap_of(t.start, t.end, times.backward_began, times.backward_ended);
    r.sms = std::max(r.sms, runtime.program(slowest, op).sms());
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
  sim::Bytes all;
  for (const sim::Bytes n : train::gradient_sizes(plan)) all += n;
  train::StepGraph step = graph_of(job, plan);
  if (auto checked = work::check(step.graph); !checked) return sim::fail_as(std::move(checked));
  result.memory = memory_need(plan);
  if (copies(step.graph)) result.memory.gradients += all;
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
  for (const sim::Bytes n : sizes_of(step.graph)) {
    auto prepared = programs.prepare(n);
    if (!go_on()) return sim::interrupted();
    if (!prepared) return sim::fail_as(std::move(prepared));
  }

  const std::int64_t packet_hops = packet_hops_of(job, all);
  result.burst = job.burst.for_hops(packet_hops);
  StepJob simulated = job;
  if (may_fold(job, step.graph, packet_hops, result.burst) && programs.fold(stand_ins(job.gpus))) {
    simulated.gpus = stand_ins(job.gpus);
    step = graph_of(simulated, plan);
  }
  result.simulated = simulated.gpus;

  const work::Programs program_of = [&programs](const work::Operation&,
                                                sim::Bytes bytes) -> const coll::Program& {
    const auto prepared = programs.prepare(bytes);
    INFOLD_CHECK(prepared.has_value(), "sizes between those that were accepted are accepted");
    return programs[bytes].program;
  };
  auto alone = run_alone(job, plan, step, program_of, keep_going);
  if (!alone) return sim::fail_as(std::move(alone));
  result.alone = *alone;

  gpu::Machine machine(
      job.system->plan(),
      {.burst = result.burst, .functional = false, .in_network = in_network(job), .core = options_of(job)});
  work::Runtime runtime(step.graph, machine,
                        {.programs = program_of,
                         .delays = job.delays,
                         .together = job.together,
                         .undisturbed = undisturbed(job)});
  std::optional<StepTrace> trace;
  if (job.trace) trace.emplace(simulated, plan, step.backward_ended, programs, machine, runtime);
  runtime.start();
  const sim::Bytes to_send = bytes_to_send(step.graph, programs, all * simulated.gpus);
  while (machine.events().run(kStepEventsPerLook)) {
    const double share = share_of(machine, result.alone.times, to_send);
    if (keep_going && !keep_going(kAloneShare + (1 - kAloneShare) * share)) return sim::interrupted();
  }
  if (!runtime.done()) return sim::deadlock(runtime.who_waits());
  if (trace) result.trace = trace->finish();
  INFOLD_CHECK(machine.quiet(), "after the step nothing is in flight and all credits are home");
  read_times(simulated, plan, step.backward_ended, runtime, machine, result);
  result.buckets = read_buckets(runtime, programs, plan.recipe.gradient_bytes());
  result.events = result.alone.events + machine.events().handled() - (trace ? trace->events() : 0);
  result.packet_hops = machine.network().packet_hops();
  if (result.communicating > sim::Time{})
    result.links = use_of_links(machine, result.communicating, simulated.gpus, job.gpus);
  for (int g = 0; g < job.gpus; ++g)
    result.link_bytes += machine.network().payload_sent(static_cast<net::NodeId>(g % simulated.gpus));
  return result;
}

}  // namespace infold::study
