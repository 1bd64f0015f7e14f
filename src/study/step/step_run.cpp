// Runs a step alone on one GPU and then on the machine, and reads off what happened.
#include "study/step/step_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/machine.h"
#include "sim/check.h"
#include "study/composed/composed_run.h"
#include "study/step/fitting_layouts.h"
#include "study/step/planned_step.h"
#include "study/step/step_programs.h"
#include "study/step/step_reading.h"
#include "study/step/step_trace.h"
#include "study/step/step_use.h"
#include "study/step/train_run.h"
#include "train/plan.h"
#include "train/recipe_check.h"
#include "train/strategy/strategies.h"
#include "work/check.h"
#include "work/runtime.h"

namespace infold::study {

namespace {

/// The approximate share of the progress bar that the step without communication takes.
constexpr double kAloneShare = 0.15;
constexpr std::uint64_t kStepEventsPerLook = 1 << 15;  // events between two calls of keep_going

/// The same step on one GPU that reduces nothing. Memory is laid out as beside collectives, so that nothing
/// else differs.
sim::Result<AloneResult> run_alone(const StepJob& job, const PlannedStep& step, int script,
                                   const work::Programs& programs, const KeepGoing& keep_going) {
  work::Graph graph = work::without_communication(step.graph);
  graph.script_of.front() = script;
  sim::EventQueue events;
  gpu::Core core(job.system->machine.gpu, events, {});
  work::Runtime runtime(std::move(graph), core, {.programs = programs});
  runtime.start();
  while (!core.dispatcher().idle()) {
    if (keep_going && !keep_going(kAloneShare * runtime.kernels(0).share_ended())) return sim::interrupted();
    if (!events.run(kStepEventsPerLook) && !core.dispatcher().idle())
      return sim::deadlock(core.dispatcher().who_waits());
  }
  return AloneResult{
      .times = step_times(runtime, step, 0), .kernels = kernel_times(runtime, 0), .events = events.handled()};
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

/// Where links are not shared every communicator has a network of its own.
int networks_of(const StepJob& job, const work::Graph& graph) {
  return job.core.contention.link ? 1 : std::max(1, static_cast<int>(std::ssize(graph.communicators)));
}

/// The number of packets over links that a ring would take, acknowledgements included.
std::int64_t packet_hops_of(const StepJob& job, sim::Bytes bytes) {
  const net::FabricSpec& fabric = job.system->machine.fabric;
  return bytes.count() / fabric.packet.payload.count() * job.system->plan().routes().diameter() * 2;
}

/// Up to this many packets over links every GPU is simulated: in bursts, some ten seconds.
constexpr std::int64_t kManyPacketHops = 1'000'000'000;

/// About how many packets over links are simulated in a second of one core: by themselves, in bursts, and in
/// bursts that switches reduce. Only `--fidelity auto` asks, and it must not depend on the computer.
constexpr double kPacketsPerSecond = 8e6;
constexpr double kBurstedPerSecond = 40e6;
constexpr double kReducedPerSecond = 6e6;

/// The level of a step whose links carry so many packets.
Fidelity level_of(const StepJob& job, std::int64_t packet_hops) {
  if (job.fidelity.level) return *job.fidelity.level;
  const auto hops = static_cast<double>(packet_hops);
  if (job.fidelity.budget_s > 0) {
    if (hops / kPacketsPerSecond <= job.fidelity.budget_s) return Fidelity::kPacket;
    const double rate = in_network(job.method) ? kReducedPerSecond : kBurstedPerSecond;
    return hops / rate <= job.fidelity.budget_s ? Fidelity::kBurst : Fidelity::kComposed;
  }
  return job.burst.for_hops(packet_hops) == sim::Bytes{} ? Fidelity::kPacket : Fidelity::kBurst;
}

/// How many of n GPUs represent all: the smallest divisor of n that is not so small that the last of them to
/// be ready comes much earlier than the last of all would. (With two it comes 5 % earlier on gpt2-xl, with
/// four 2 %.)
int stand_ins(int n) {
  int d = 4;
  while (d < n && n % d != 0) ++d;
  return std::min(d, n);
}

/// The gathering of the graph, if buckets are formed while the step runs, by all GPUs together.
const work::Gather* gather_in(const work::Graph& graph) {
  for (const work::Operation& op : graph.operations) {
    if (const auto* g = std::get_if<work::Gather>(&op.what)) return g;
  }
  return nullptr;
}

/// What the buckets send, about where they are not known in advance: a ring sends its data twice.
sim::Bytes bytes_to_send(const work::Graph& graph, const StepPrograms& programs, sim::Bytes all) {
  if (gather_in(graph) != nullptr) return all;
  sim::Bytes sum;
  for (const PlannedCommunication& c : communications_of(graph))
    sum += bytes_sent(programs.at(c.op, c.bytes, c.members).program);
  return sum;
}

/// Giving collectives their own links must change something, unless it is asked for beside other things.
sim::Status check_links(const StepJob& job, int communicators) {
  const gpu::Contention& c = job.core.contention;
  if (!c.link && job.system->machine.nodes > 1)
    return sim::fail("--without link: not on a machine of several nodes yet");
  if (c.link || communicators > 1 || !c.sm || !c.l2 || !c.hbm) return {};
  return sim::fail(
      "--without link: kernels send nothing over links, and the collectives of one communicator follow each "
      "other, so nothing shares links here");
}

/// Whether compute is not disturbed by collectives. If compute shares nothing, it never is; if collectives
/// come after backward, it is not until then. GPUs that began together then stay in step.
bool undisturbed(const StepJob& job) {
  const gpu::Contention& c = job.core.contention;
  return !job.overlap || (!c.sm && !c.l2 && !c.hbm);
}

/// Whether all ranks do the same and communicate with all others only.
bool all_together(const work::Graph& graph) {
  return graph.scripts.size() == 1 &&
         std::ranges::all_of(graph.communicators, [&](const work::Communicator& c) {
           return c.groups.size() == 1 && std::ssize(c.groups.front()) == graph.ranks();
         });
}

/// The first ranks of such a graph, which stand for all.
void keep_first(work::Graph& graph, int ranks) {
  graph.script_of.resize(static_cast<std::size_t>(ranks));
  for (work::Communicator& c : graph.communicators) c.groups.front().resize(static_cast<std::size_t>(ranks));
}

/// Whether GPUs may stand for each other: all do the same, at the same time, and no pair of them is nearer
/// than any other.
bool may_fold(const StepJob& job, const work::Graph& graph, std::int64_t packet_hops, sim::Bytes burst) {
  if (job.fold == Fold::kOff || !job.delays.empty() || gather_in(graph) != nullptr) return false;
  if (stand_ins(job.gpus) == job.gpus || !all_together(graph)) return false;
  if (job.system->machine.fabric.topology != net::Topology::kSwitchPlanes) return false;
  if (job.system->machine.nodes > 1) return false;
  return job.fold == Fold::kOn || (burst > sim::Bytes{} && packet_hops > kManyPacketHops);
}

sim::Status check_options(const StepJob& job) {
  if (job.fold == Fold::kOn && job.system->machine.nodes > 1)
    return sim::fail("--fold: GPUs of several nodes do not stand for each other");
  const int sms = job.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return sim::fail(
        fmt::format("{} of {} SMs cannot be reserved: one must be left", job.core.reserved_sms, sms));
  return train::check_recipe(job.system->machine.gpu, *job.graph, job.recipe);
}

std::vector<TableUse> table_use(const work::Graph& graph, const gpu::Machine& machine) {
  std::vector<TableUse> tables;
  if (machine.units() == nullptr) return tables;
  const auto name = [&](int job) { return graph.communicators[static_cast<std::size_t>(job)].name; };
  for (const inc::SwitchUnits::OfJob& job : machine.units()->jobs()) {
    TableUse& use = tables.emplace_back(
        TableUse{.communicator = name(job.job), .peak_entries = job.table_peak_entries, .sums = job.sums});
    for (const auto& [holder, times] : job.stalls) use.stalls.push_back({name(holder), times});
  }
  return tables;
}

}  // namespace

// If SMs are not shared, reserving some has no meaning.
gpu::CoreOptions core_options(const StepJob& job) {
  gpu::CoreOptions core = job.core;
  if (!core.contention.sm) core.reserved_sms = 0;
  return core;
}

double StepResult::slowdown_beside() const {
  const double more = backward.in_s() - alone.times.backward().in_s();
  const double beside = communicating_in_backward.in_s() - more;
  return beside > 0 ? more / beside : 0;
}

sim::Result<StepResult> run(const StepJob& asked, const KeepGoing& keep_going) {
  StepJob job = asked;
  auto layout = train::fill(asked.layout, asked.gpus);
  if (!layout) return sim::fail_as(std::move(layout));
  job.layout = *layout;
  if (auto checked = check_options(job); !checked) return sim::fail_as(std::move(checked));
  auto planned = plan_step(job);
  if (!planned) return sim::fail_as(std::move(planned));
  PlannedStep& step = *planned;
  StepResult result;
  result.passes = job.recipe.accumulate;
  result.memory = step.memory;
  result.communicators = used_communicators(step.graph);
  if (auto checked = check_links(job, result.communicators); !checked)
    return sim::fail_as(std::move(checked));
  const auto what_fits = [&] { return in_words(fitting_layouts(asked), asked.gpus); };
  if (auto fits = check_memory(job.system->machine.gpu, result.memory, job.ignore_memory, what_fits); !fits)
    return sim::fail_as(std::move(fits));

  const CollectiveJob collective{
      .system = job.system,
      .algorithm = job.method.algorithm,
      .program = job.method.program,
      .engine = job.method.engine,
      .collective = coll::Collective::kAllReduce,
      .bytes = {},
      .type = step.gradient_bytes == 2 ? coll::DataType::kBf16 : coll::DataType::kFp32,
      .gpus = job.gpus,
      .burst = job.burst};
  const auto go_on = [&keep_going] { return !keep_going || keep_going(0); };
  StepPrograms programs(collective, job.protocol, go_on);
  if (job.gather_engine) programs.gather_on(*job.gather_engine);
  if (auto prepared = programs.prepare(step.graph); !prepared) return sim::fail_as(std::move(prepared));

  const sim::Bytes all = ring_bytes(step.graph);
  const std::int64_t packet_hops = packet_hops_of(job, all);
  const Fidelity level = level_of(job, packet_hops);
  result.burst = level == Fidelity::kPacket ? sim::Bytes{} : job.burst.for_hops(packet_hops);
  if (level == Fidelity::kComposed) {
    if (auto ok = composed::check(job, step); !ok) return sim::fail_as(std::move(ok));
    return composed::run(job, step, programs, std::move(result), keep_going);
  }
  if (level == Fidelity::kBurst && job.fidelity.level) result.burst = sim::max(result.burst, kAutoBurst);
  result.fidelity = result.burst == sim::Bytes{} ? Fidelity::kPacket : Fidelity::kBurst;
  if (result.fidelity == Fidelity::kPacket) result.fidelity_error = 0;  // nothing is finer
  StepJob simulated = job;
  if (may_fold(job, step.graph, packet_hops, result.burst) && programs.fold(stand_ins(job.gpus))) {
    simulated.gpus = stand_ins(job.gpus);
    keep_first(step.graph, simulated.gpus);
  }
  result.simulated = simulated.gpus;

  const work::Programs program_of = [&programs](const work::Operation& op, sim::Bytes bytes,
                                                const std::vector<int>& members) -> const coll::Program& {
    const auto prepared = programs.prepare(op, bytes, members);
    INFOLD_CHECK(prepared.has_value(), "sizes between those that were accepted are accepted");
    return programs.at(op, bytes, members).program;
  };
  std::vector<AloneResult> alone;
  for (std::size_t script = 0; script < step.graph.scripts.size(); ++script) {
    auto one = run_alone(job, step, static_cast<int>(script), program_of, keep_going);
    if (!one) return sim::fail_as(std::move(one));
    alone.push_back(*std::move(one));
  }

  gpu::Machine machine(job.system->plan(), {.burst = result.burst,
                                            .functional = false,
                                            .in_network = in_network(job.method),
                                            .core = core_options(job),
                                            .networks = networks_of(job, step.graph)});
  work::Runtime runtime(step.graph, machine,
                        {.programs = program_of,
                         .delays = job.delays,
                         .together = job.together,
                         .undisturbed = undisturbed(job)});
  std::optional<StepTrace> trace;
  if (job.trace) trace.emplace(simulated, step, programs, machine, runtime);
  runtime.start();
  const sim::Bytes to_send = bytes_to_send(step.graph, programs, all);
  while (machine.events().run(kStepEventsPerLook)) {
    const double share = share_of(machine, alone.front().times, to_send);
    if (keep_going && !keep_going(kAloneShare + (1 - kAloneShare) * share)) return sim::interrupted();
  }
  if (!runtime.done()) return sim::deadlock(runtime.who_waits());
  if (trace) result.trace = trace->finish();
  INFOLD_CHECK(machine.quiet(), "after the step nothing is in flight and all credits are home");
  const int slowest =
      read_times(simulated, step, runtime, programs, alone, job.gpus / simulated.gpus, result);
  result.traffic = machine.gpu(slowest).memory().traffic();
  result.sm_time = machine.gpu(slowest).sm_time();
  result.tables = table_use(step.graph, machine);
  result.buckets = read_buckets(runtime, programs, step.gradient_bytes);
  for (const AloneResult& a : alone) result.events += a.events;
  result.events += machine.events().handled() - (trace ? trace->events() : 0);
  result.packet_hops = machine.network().packet_hops();
  if (result.communicating > sim::Time{})
    result.links = use_of_links(machine, result.communicating, simulated.gpus, job.gpus);
  for (int g = 0; g < job.gpus; ++g)
    result.link_bytes += machine.network().payload_sent(static_cast<net::NodeId>(g % simulated.gpus));
  return result;
}

}  // namespace infold::study
