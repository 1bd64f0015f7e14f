// The workload without communication on each rank's GPU, then as it is on the machine.
#include "study/replay/replay_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "gpu/machine.h"
#include "sim/check.h"
#include "study/replay/replay_trace.h"
#include "study/step/planned_step.h"
#include "study/step/step_programs.h"
#include "work/check.h"
#include "work/communications.h"
#include "work/runtime.h"

namespace infold::study {

namespace {

constexpr double kReplayAloneShare = 0.1;                // of the progress bar, about
constexpr std::uint64_t kReplayEventsPerLook = 1 << 15;  // events between two calls of keep_going

/// What a rank does without communication.
struct RankAlone {
  sim::Time end;
  std::vector<sim::Time> kernels;
};

sim::Time end_of(const work::Runtime& runtime, int rank) {
  sim::Time end;
  for (const work::Stream& stream : runtime.graph().script(rank).streams) {
    for (const work::OpId op : stream.ops) {
      const work::Runtime::Times t = runtime.times(rank, op);
      if (t.over()) end = sim::max(end, t.end);
    }
  }
  return end;
}

sim::Result<RankAlone> run_rank_alone(const ReplayJob& job, int script, const work::Programs& programs,
                                      const KeepGoing& keep_going) {
  work::Graph graph = work::without_communication(job.workload->graph);
  graph.script_of.front() = script;
  sim::EventQueue events;
  gpu::Core core(job.system->machine.gpu, events, {});
  work::Runtime runtime(std::move(graph), core, {.programs = programs});
  runtime.start();
  while (events.run(kReplayEventsPerLook)) {
    if (keep_going && !keep_going(kReplayAloneShare * runtime.kernels(0).share_ended()))
      return sim::interrupted();
  }
  if (!runtime.done()) return sim::deadlock(runtime.who_waits());
  return RankAlone{.end = end_of(runtime, 0), .kernels = kernel_times(runtime, 0)};
}

struct Interval {
  sim::Time begin;
  sim::Time end;
};

std::vector<Interval> united(std::vector<Interval> all) {
  std::ranges::sort(all, {}, &Interval::begin);
  std::vector<Interval> out;
  for (const Interval& i : all) {
    if (i.end <= i.begin) continue;
    if (!out.empty() && i.begin <= out.back().end) {
      out.back().end = sim::max(out.back().end, i.end);
    } else {
      out.push_back(i);
    }
  }
  return out;
}

sim::Time length(const std::vector<Interval>& all) {
  sim::Time sum;
  for (const Interval& i : all) sum += i.end - i.begin;
  return sum;
}

/// When communication was under way on a rank, and when a kernel of compute ran.
void read_cover(const work::Runtime& runtime, int rank, ReplayResult& result) {
  std::vector<Interval> communicating;
  std::vector<Interval> computing;
  const work::Graph& graph = runtime.graph();
  for (const work::Stream& stream : graph.script(rank).streams) {
    for (const work::OpId op : stream.ops) {
      const work::Runtime::Times t = runtime.times(rank, op);
      if (!t.over()) continue;
      if (work::communicator_of(graph[op]) >= 0) {
        communicating.push_back({t.start, t.end});
      } else if (runtime.ran(rank, op)) {
        computing.push_back({t.start, t.end});
      }
    }
  }
  std::vector<Interval> either = computing;
  either.insert(either.end(), communicating.begin(), communicating.end());
  result.communicating = length(united(std::move(communicating)));
  result.uncovered = length(united(std::move(either))) - length(united(std::move(computing)));
}

sim::Status check_job(const ReplayJob& job) {
  const work::Graph& graph = job.workload->graph;
  const int gpus = job.system->machine.all_gpus();
  if (graph.ranks() > gpus) {
    return sim::fail(fmt::format("{} has {} ranks, and {} has {} GPUs", job.workload->name, graph.ranks(),
                                 job.system->name, gpus));
  }
  const int sms = job.system->machine.gpu.sms;
  if (job.core.reserved_sms >= sms)
    return sim::fail(
        fmt::format("{} of {} SMs cannot be reserved: one must be left", job.core.reserved_sms, sms));
  const gpu::Contention& c = job.core.contention;
  if (!c.link && used_communicators(graph) < 2 && c.sm && c.l2 && c.hbm) {
    return sim::fail(
        "--without link: kernels send nothing over links, and the collectives of one communicator follow "
        "each other, so nothing shares links here");
  }
  return work::check(graph);
}

int operations_of(const work::Graph& graph) {
  std::size_t sum = 0;
  for (int r = 0; r < graph.ranks(); ++r) {
    for (const work::Stream& stream : graph.script(r).streams) sum += stream.ops.size();
  }
  return static_cast<int>(sum);
}

void read_replay(const work::Runtime& runtime, const StepPrograms& programs,
                 const std::vector<RankAlone>& alone, ReplayResult& result) {
  const work::Graph& graph = runtime.graph();
  for (int r = 0; r < graph.ranks(); ++r) {
    const sim::Time end = end_of(runtime, r);
    if (end <= result.step && r > 0) continue;
    result.step = end;
    result.slowest = r;
  }
  for (const RankAlone& a : alone) result.alone = sim::max(result.alone, a.end);
  const int rank = result.slowest;
  read_cover(runtime, rank, result);
  const Waits waits = waits_of(runtime, rank, {}, result.step);
  result.waited = waits.exposed();
  result.together = together(runtime, rank);
  result.communication = communication_use(runtime, programs, rank, waits);
  result.kernels =
      kernel_use(runtime, rank,
                 alone[static_cast<std::size_t>(graph.script_of[static_cast<std::size_t>(rank)])].kernels);
  for (const work::OpId op : runtime.communications(rank))
    result.sms = std::max(result.sms, runtime.program(rank, op).sms());
}

}  // namespace

sim::Result<ReplayResult> run(const ReplayJob& job, const KeepGoing& keep_going) {
  if (auto ok = check_job(job); !ok) return sim::fail_as(std::move(ok));
  const work::Graph& graph = job.workload->graph;
  ReplayResult result;
  result.ranks = graph.ranks();
  result.operations = operations_of(graph);
  const CollectiveJob collective{.system = job.system,
                                 .algorithm = job.method.algorithm,
                                 .program = job.method.program,
                                 .engine = job.method.engine,
                                 .collective = coll::Collective::kAllReduce,
                                 .bytes = {},
                                 .type = job.workload->type,
                                 .gpus = graph.ranks(),
                                 .burst = job.burst};
  const auto go_on = [&keep_going] { return !keep_going || keep_going(0); };
  StepPrograms programs(collective, job.protocol, go_on);
  if (auto prepared = programs.prepare(graph); !prepared) return sim::fail_as(std::move(prepared));
  const work::Programs program_of = [&programs](const work::Operation& op, sim::Bytes bytes,
                                                const std::vector<int>& members) -> const coll::Program& {
    const auto prepared = programs.prepare(op, bytes, members);
    INFOLD_CHECK(prepared.has_value(), "sizes between those that were accepted are accepted");
    return programs.at(op, bytes, members).program;
  };
  std::vector<RankAlone> alone;
  for (std::size_t script = 0; script < graph.scripts.size(); ++script) {
    auto one = run_rank_alone(job, static_cast<int>(script), program_of, keep_going);
    if (!one) return sim::fail_as(std::move(one));
    alone.push_back(*std::move(one));
  }

  const net::FabricSpec& fabric = job.system->machine.fabric;
  const std::int64_t packet_hops =
      ring_bytes(graph).count() / fabric.packet.payload.count() * job.system->plan().routes().diameter() * 2;
  result.burst = job.burst.for_hops(packet_hops);
  gpu::CoreOptions core = job.core;
  if (!core.contention.sm) core.reserved_sms = 0;
  const int networks =
      core.contention.link ? 1 : std::max(1, static_cast<int>(std::ssize(graph.communicators)));
  gpu::Machine machine(job.system->plan(), {.burst = result.burst,
                                            .functional = false,
                                            .in_network = in_network(job.method),
                                            .core = core,
                                            .networks = networks});
  const gpu::Contention& c = core.contention;
  work::Runtime runtime(graph, machine,
                        {.programs = program_of,
                         .delays = job.delays,
                         .together = true,
                         .undisturbed = !c.sm && !c.l2 && !c.hbm});
  std::optional<ReplayTrace> trace;
  if (job.trace) trace.emplace(*job.trace, machine, runtime);
  runtime.start();
  while (machine.events().run(kReplayEventsPerLook)) {
    if (keep_going &&
        !keep_going(kReplayAloneShare + (1 - kReplayAloneShare) * runtime.kernels(0).share_ended()))
      return sim::interrupted();
  }
  if (!runtime.done()) return sim::deadlock(runtime.who_waits());
  if (trace) result.trace = trace->finish();
  INFOLD_CHECK(machine.quiet(), "after the step nothing is in flight and all credits are home");
  read_replay(runtime, programs, alone, result);
  result.events = machine.events().handled() - (trace ? trace->events() : 0);
  result.packet_hops = machine.network().packet_hops();
  for (int g = 0; g < graph.ranks(); ++g)
    result.link_bytes += machine.network().payload_sent(static_cast<net::NodeId>(g));
  return result;
}

}  // namespace infold::study
