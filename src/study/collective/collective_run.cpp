// Builds the machine, compiles the program, runs it to the end and reads the counters.
#include "study/collective/collective_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <numeric>

#include "coll/program/chunking.h"
#include "coll/program/tokens.h"
#include "coll/tune/engine_tuning.h"
#include "gpu/machine.h"
#include "inc/tag.h"
#include "inc/unit_area.h"
#include "sim/check.h"
#include "sim/random.h"
#include "sim/sampler.h"
#include "study/collective/collective_loop.h"
#include "study/collective/fault_run.h"
#include "study/watch.h"

namespace infold::study {

namespace {

/// The simulator memory that the values of a checked run may take.
constexpr std::int64_t kValuesLimit = std::int64_t{8} << 30;
/// The largest number of steps of a program; each takes some 130 bytes.
constexpr std::int64_t kMostSteps = 50'000'000;
/// The most connections on a machine of several nodes, each of which has a queue in a NIC; that takes some 3
/// KB of the simulator's memory.
constexpr std::int64_t kMostConnections = 500'000;
/// The number of events between two calls of keep_going.
constexpr std::uint64_t kEventsPerLook = 1 << 15;

/// A job on its machine: everything that runs there at the same time.
class Bench {
 public:
  Bench(const CollectiveJob& job, gpu::Machine& machine, const std::vector<coll::Program>& programs,
        const std::vector<std::vector<int>>& groups, sim::TraceRecorder* trace)
      : job_(job), machine_(machine), programs_(programs) {
    std::uint64_t seed = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      for (int i = 0; i < job.concurrent; ++i)
        streams_.push_back(
            std::make_unique<CollectiveLoop>(job, machine, programs[g], groups[g], ++seed, trace));
    }
  }

  /// Returns false if it was asked to stop.
  bool run(const KeepGoing& keep_going) {
    double total = 1;
    for (const coll::Program& p : programs_) {
      total += static_cast<double>(bytes_sent(p).count()) * job_.iterations * job_.concurrent;
    }
    while (machine_.events().run(kEventsPerLook)) {
      if (keep_going && !keep_going(static_cast<double>(data_sent()) / total)) return false;
    }
    return true;
  }

  bool done() const {
    return std::ranges::all_of(streams_, [](const auto& s) { return s->done(); });
  }
  sim::Time end() const {
    sim::Time end;
    for (const auto& s : streams_) {
      if (!s->ends().empty()) end = sim::max(end, s->ends().back());
    }
    return end;
  }
  std::uint64_t wrong() const {
    std::uint64_t sum = 0;
    for (const auto& s : streams_) sum += s->wrong();
    return sum;
  }
  /// The largest error of all, and the mean error of the first.
  coll::Values::Error error() const {
    coll::Values::Error all = streams_.front()->error();
    for (const auto& s : streams_) all.largest = std::max(all.largest, s->error().largest);
    return all;
  }
  std::vector<sim::Time> ends() const {
    std::vector<sim::Time> all;
    for (const auto& s : streams_) {
      if (streams_.size() > 1 && !s->ends().empty()) all.push_back(s->ends().back());
    }
    return all;
  }
  std::uint64_t data_sent() const {
    std::uint64_t sum = 0;
    for (int g = 0; g < machine_.gpus(); ++g)
      sum += machine_.network().payload_sent(static_cast<net::NodeId>(g));
    return sum;
  }
  coll::Residency residency() const {
    coll::Residency sum;
    for (const auto& s : streams_) sum += s->residency();
    return sum;
  }
  std::vector<std::string> who_waits() const {
    std::vector<std::string> lines;
    for (const auto& s : streams_) {
      for (auto& line : s->who_waits()) lines.push_back(std::move(line));
    }
    if (machine_.units() != nullptr) {
      for (auto& line : machine_.units()->who_waits()) lines.push_back(std::move(line));
    }
    for (auto& line : machine_.network().who_waits()) lines.push_back(std::move(line));
    return lines;
  }

 private:
  const CollectiveJob& job_;
  gpu::Machine& machine_;
  const std::vector<coll::Program>& programs_;
  std::vector<std::unique_ptr<CollectiveLoop>> streams_;
};

/// The GB/s of data that the links of a GPU carry in one direction, after headers. Every rank must send, on
/// average, what busbw counts, whatever the algorithm.
double payload_bound(const net::Blueprint& blueprint, sim::Bytes packet) {
  // Counts the links that leave each GPU, by type of link.
  const std::size_t types = blueprint.link_types.size();
  std::vector<int> links(static_cast<std::size_t>(blueprint.gpus) * types);
  for (const net::Cable& c : blueprint.cables) {
    for (const net::NodeId end : {c.a, c.b}) {
      if (blueprint.is_gpu(end)) ++links[static_cast<std::size_t>(end) * types + c.type];
    }
  }
  const auto payload = static_cast<double>(packet.count());
  double most = 0;
  for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(blueprint.gpus); ++gpu) {
    double sum = 0;
    for (std::size_t t = 0; t < types; ++t) {
      const net::LinkType& type = blueprint.link_types[t];
      const auto whole = static_cast<double>((packet + type.packet.header).count());
      sum += links[gpu * types + t] * type.rate.in_gbps() * payload / whole;
    }
    most = std::max(most, sum);
  }
  return most;
}

/// The same for a collective over nodes, which pass to each other what their NICs carry: the share of it that
/// leaves a node is known, whatever the algorithm. Nothing is said of ranks that are not dealt out evenly.
double bound_between_nodes(const CollectiveJob& job, const std::vector<int>& gpus) {
  constexpr double kUnbound = std::numeric_limits<double>::infinity();
  const gpu::MachineSpec& machine = job.system->machine;
  std::map<int, int> ranks_of;
  for (const int gpu : gpus) ++ranks_of[job.system->plan().blueprint().node_of(gpu)];
  const auto nodes = static_cast<double>(ranks_of.size());
  const double each = ranks_of.begin()->second;
  const bool even = std::ranges::all_of(ranks_of, [&](const auto& n) { return n.second == each; });
  if (ranks_of.size() == 1 || !even) return kUnbound;
  const gpu::NicSpec& nic = machine.nic;
  const double payload = static_cast<double>(nic.mtu.count());
  const double rate = nic.rate.in_gbps() * payload / (payload + static_cast<double>(nic.header.count()));
  const double ranks = nodes * each;
  switch (job.collective) {
    case coll::Collective::kAllReduce:
    case coll::Collective::kAllGather:
    case coll::Collective::kReduceScatter:
      return each * rate * ((ranks - 1) / ranks) / ((nodes - 1) / nodes);
    case coll::Collective::kBroadcast:
    case coll::Collective::kReduce:
      return each * rate;
    case coll::Collective::kAllToAll:
      return rate * (ranks - 1) / (ranks - each);
    default:
      return kUnbound;
  }
}

std::optional<InNetworkCounters> in_network_counters(const gpu::Machine& machine) {
  if (machine.units() == nullptr) return std::nullopt;
  const inc::SwitchUnits::Totals totals = machine.units()->totals();
  InNetworkCounters c{.table_peak_entries = totals.table_peak_entries,
                      .stalls = totals.stalls,
                      .evictions = totals.evictions,
                      .bypasses = totals.bypasses,
                      .port_sram = {},
                      .packet_latency = {}};
  std::size_t ports = 0;
  for (const auto& unit : machine.units()->units()) ports = std::max(ports, unit->ports());
  const inc::UnitArea area = inc::area_of(inc::shape_of(machine.units()->spec(), static_cast<int>(ports)));
  c.port_gates = area.gates();
  c.port_sram = area.sram();
  gpu::SwitchPort::Latency latency;
  for (int g = 0; g < machine.gpus(); ++g) {
    const gpu::SwitchPort& port = machine.gpu(g).switch_port();
    c.finished_at_gpus += port.partials();
    latency.sum += port.latency().sum;
    latency.blocks += port.latency().blocks;
  }
  if (latency.blocks > 0) c.packet_latency = latency.sum / static_cast<std::int64_t>(latency.blocks);
  return c;
}

CollectiveResult read_counters(const CollectiveJob& job, const Bench& bench, const gpu::Machine& machine,
                               const coll::Program& program, const std::vector<int>& gpus) {
  CollectiveResult r;
  // Back to back, a collective takes as long as its kernel or as its enqueueing, whichever is longer.
  const sim::Time enqueue = job.system->machine.gpu.host_enqueue;
  r.take_time(job, sim::max(bench.end() / job.iterations, enqueue));
  r.host_bound = bench.end() / job.iterations < enqueue;
  r.bound_gbps = payload_bound(machine.blueprint(), packet_payload(machine.spec(), program));
  // If switches add up, a rank need not send more than the vector once, nor receive more.
  r.bound_gbps = std::min(r.bound_gbps, bound_between_nodes(job, gpus));
  if (machine.units() != nullptr)
    r.bound_gbps *=
        std::max(1.0, coll::bus_factor(job.collective, program.ranks, job.system->coll.experts.fan_out));
  INFOLD_CHECK(r.busbw_gbps * job.concurrent <= r.bound_gbps * 1.000001 || program.ranks == 1,
               "no collective is faster than the links of its GPUs");
  if (job.check) r.wrong = bench.wrong();
  const auto share = static_cast<std::uint64_t>(job.gpus) * static_cast<std::uint64_t>(job.iterations);
  r.link_bytes_per_gpu = bench.data_sent() / share;
  std::uint64_t wire = 0;
  for (net::LinkId link = 0; link < machine.map().links(); ++link) {
    const net::LinkCounters counters = machine.network().counters(link);
    if (machine.map().is_gpu(machine.map().from(link))) wire += counters.wire_bytes;
    r.replays += counters.replays;
  }
  r.wire_bytes_per_gpu = wire / share;
  std::uint64_t hbm = 0;
  std::uint64_t l2 = 0;
  sim::Time sm_time;
  for (int g = 0; g < machine.gpus(); ++g) {
    const gpu::MemorySystem& memory = machine.gpu(g).memory();
    hbm += memory.hbm_read_bytes() + memory.hbm_written_bytes() + memory.unwritten();
    l2 += memory.traffic().total().l2_read + memory.traffic().total().l2_written;
    sm_time += machine.gpu(g).sm_time()[gpu::Actor::kCollective];
  }
  r.sm_time = sm_time / static_cast<std::int64_t>(share);
  r.hbm_bytes_per_gpu = hbm / share;
  r.l2_bytes_per_gpu = l2 / share;
  r.engine = program.engine;
  r.sms = program.sms() * job.concurrent;
  const coll::Residency residency = bench.residency();
  if (const auto workgroups = static_cast<std::int64_t>(share) * r.sms; workgroups > 0) {
    r.resident = residency.resident / workgroups;
    r.moving = (residency.resident - residency.waiting) / workgroups;
  }
  r.in_network = in_network_counters(machine);
  r.ends = bench.ends();
  const bool sums = coll::reduces(job.collective) && job.type != coll::DataType::kInt32 &&
                    (job.op == coll::ReduceOp::kSum || job.op == coll::ReduceOp::kAvg);
  if (job.check && job.real_inputs && sums) r.error = bench.error();
  r.packet_hops = machine.network().packet_hops();
  if (bench.end() > sim::Time{}) r.links = use_of_links(machine, bench.end());
  return r;
}

/// The GPUs of each communicator.
std::vector<std::vector<int>> groups_of(const CollectiveJob& job) {
  if (!job.members.empty()) return {job.members};
  std::vector<std::vector<int>> groups(static_cast<std::size_t>(job.groups));
  int next = 0;
  for (auto& group : groups) {
    group.resize(static_cast<std::size_t>(job.gpus / job.groups));
    std::iota(group.begin(), group.end(), next);
    next += job.gpus / job.groups;
  }
  return groups;
}

coll::Tuning tuning_of(const CollectiveJob& job) {
  coll::Tuning tuning = coll::tuning_for(job.system->coll, job.protocol, job.engine, job.system->machine.gpu);
  if (job.experts) tuning.experts = *job.experts;
  if (job.even_shares) tuning.chunk_grain = sim::Bytes{gpu::kVectorAccess};
  return tuning;
}

sim::Result<coll::Program> program_for(const CollectiveJob& job, const std::vector<int>& gpus,
                                       const sim::GoOn& go_on) {
  if (job.program != nullptr)
    return coll::fit(*job.program, job.bytes, job.protocol, coll::size_of(job.type));
  return coll::compile_on(*job.algorithm,
                          {.collective = job.collective,
                           .bytes = job.bytes,
                           .gpus = gpus,
                           .fabric = &job.system->plan().blueprint(),
                           .tuning = tuning_of(job),
                           .root = job.root,
                           .engine = job.engine,
                           .go_on = &go_on},
                          job.system->machine.gpu);
}

/// The memory that the most loaded rank needs on its GPU: vectors, scratch, a buffer for each connection, and
/// for copy engines one for the sums of each channel.
sim::Bytes memory_of(const coll::Program& program, bool over_nodes, const sim::GoOn& go_on) {
  const coll::BufferSizes sizes = coll::buffer_sizes(program.collective, program.bytes, program.ranks);
  const sim::Bytes vectors = sizes.input + sizes.output + program.scratch;
  if (program.engine == coll::Engine::kAce) return vectors;
  const int sums = program.engine == coll::Engine::kDma ? program.channels : 0;
  // Where a connection goes to another node, there is a buffer at its sender as well.
  const int ends = over_nodes ? 2 : 1;
  return vectors + program.tuning.buffer * (coll::connections_into_a_rank(program, go_on) * ends + sums);
}

std::string gib(sim::Bytes b) {
  return fmt::format("{:.2f} GiB", static_cast<double>(b.count()) / (1 << 30));
}

sim::Status check_values(const CollectiveJob& job, sim::Bytes scratch) {
  if (!job.check) return {};
  const std::int64_t need =
      coll::Values::memory_need(job.collective, job.bytes, job.gpus / job.groups, scratch) * job.groups *
      job.concurrent;
  if (need <= kValuesLimit) return {};
  return sim::fail(fmt::format(
      "checking the values of {} bytes on {} GPUs needs up to {:.1f} GiB of memory, more than the limit of "
      "{} GiB",
      job.bytes.count(), job.gpus, static_cast<double>(need) / (1 << 30), kValuesLimit >> 30));
}

sim::Status check_program(const CollectiveJob& job, const coll::Program& program, const sim::GoOn& go_on) {
  const gpu::GpuSpec& gpu = job.system->machine.gpu;
  if (const sim::Bytes need = memory_of(program, job.system->machine.nodes > 1, go_on) * job.concurrent;
      need > gpu.hbm.capacity) {
    return sim::fail(fmt::format("{} of {} bytes needs {} of buffers on each GPU, and its memory has {}",
                                 sim::name_of(job.collective), job.bytes.count(), gib(need),
                                 gib(gpu.hbm.capacity)));
  }
  if (job.system->machine.nodes > 1) {
    const std::int64_t connections =
        std::int64_t{coll::connections_into_a_rank(program, go_on)} * program.ranks * job.concurrent;
    if (connections > kMostConnections) {
      return sim::fail(fmt::format("{} connections between {} GPUs are more than {} (see --channels)",
                                   connections, program.ranks, kMostConnections));
    }
  }
  if (auto ok = coll::check_engine(program, gpu); !ok) return ok;
  if (const int sms = program.sms() * job.concurrent; sms > gpu.sms) {
    return sim::fail(fmt::format("{} at once on {} channels each need {} SMs, and the GPU has {}",
                                 job.concurrent, program.channels, sms, gpu.sms));
  }
  if (program.in_network()) {
    const std::string_view name = job.algorithm != nullptr ? job.algorithm->name : job.program->name;
    if (const sim::Status& ok = job.system->plan().in_network(); !ok)
      return sim::fail(fmt::format("{}: {}: {}", name, ok.error().parameter, ok.error().message));
    if (job.collective == coll::Collective::kDispatch || job.collective == coll::Collective::kCombine) {
      const coll::Tokens tokens(program.tuning.experts, program.bytes, program.ranks);
      const std::int64_t block = job.system->machine.inc.payload.count();
      const std::int64_t places = std::int64_t{program.ranks} * tokens.count();
      if (places * coll::round_up(program.tuning.experts.token.count(), 8 * block) >
          sim::Bytes::gib(2).count())
        return sim::fail(
            fmt::format("{}: switches count the bytes of all tokens in 32 bits, and {} are too many", name,
                        program.bytes.count()));
    }
    if (program.ranks > inc::kMostMembers) {
      return sim::fail(fmt::format("{}: switches sum for up to {} GPUs at once, not for {}", name,
                                   inc::kMostMembers, program.ranks));
    }
  }
  return check_values(job, program.scratch);
}

}  // namespace

std::vector<sim::Time> skewed(int gpus, sim::Time most, std::uint64_t seed) {
  sim::Random random(seed);
  std::vector<sim::Time> delays;
  for (int rank = 0; rank < gpus; ++rank) {
    const auto range = static_cast<std::uint64_t>(most.count_ps()) + 1;
    delays.push_back(sim::Time::ps(static_cast<std::int64_t>(random.below(range))));
  }
  return delays;
}

namespace {
/// What is not simulated on a machine of several nodes yet.
sim::Status check_nodes(const CollectiveJob& job) {
  if (job.system->machine.nodes == 1) return {};
  const bool sums_in_switches = job.algorithm != nullptr && job.algorithm->in_network;
  if (sums_in_switches) {
    std::vector<std::string_view> others;
    for (const coll::Algorithm& a : coll::algorithms()) {
      if (!a.in_network && a.offers(job.collective)) others.push_back(a.name);
    }
    return sim::fail(fmt::format("{} does not go over nodes yet; on a machine of several nodes there are {}",
                                 job.algorithm->name, fmt::join(others, ", ")));
  }
  if (job.engine != coll::Engine::kSm) {
    return sim::fail(
        fmt::format("engine {} does not go over nodes yet; on a machine of several nodes there is "
                    "sm",
                    sim::name_of(job.engine)));
  }
  if (job.fault) return sim::fail("--fail: not on a machine of several nodes yet");
  return {};
}
}  // namespace

sim::Status check_request(const CollectiveJob& job) {
  if (auto ok = check_nodes(job); !ok) return ok;
  if (job.gpus % job.groups != 0)
    return sim::fail(fmt::format("{} GPUs cannot be dealt out evenly to {} groups", job.gpus, job.groups));
  const bool by_algorithm = job.algorithm != nullptr && job.algorithm->in_network;
  const bool in_network = by_algorithm || (job.program != nullptr && job.program->program.in_network());
  if (by_algorithm && job.engine != coll::Engine::kSm)
    return sim::fail(fmt::format("{} brings its own engine; leave --engine out", job.algorithm->name));
  if (!in_network && job.engine == coll::Engine::kCollectiveEngine)
    return sim::fail("the collective engine runs in-network programs only; there is sm, dma, ace");
  if (job.program != nullptr) return {};
  if (auto ok = coll::check_protocol(job.engine, job.protocol); !ok) return ok;
  if (job.protocol != coll::Protocol::kSimple && job.algorithm->needs_simple(job.collective)) {
    return sim::fail(fmt::format(
        "{} stores {} straight into outputs, which needs the fence of the protocol simple, not {}",
        job.algorithm->name, sim::name_of(job.collective), sim::name_of(job.protocol)));
  }
  if (!job.algorithm->offers(job.collective)) {
    return sim::fail(fmt::format("{} does not offer {}: it offers {}; {} is offered by {}",
                                 job.algorithm->name, sim::name_of(job.collective),
                                 coll::offered_by(*job.algorithm), sim::name_of(job.collective),
                                 coll::who_offers(job.collective)));
  }
  if (job.root >= job.gpus / job.groups)
    return sim::fail(
        fmt::format("there is no rank {} to be the root of {} GPUs", job.root, job.gpus / job.groups));
  const coll::BufferSizes sizes = coll::buffer_sizes(job.collective, job.bytes, job.gpus / job.groups);
  const sim::Bytes capacity = job.system->machine.gpu.hbm.capacity;
  if (sizes.input + sizes.output > capacity) {
    return sim::fail(fmt::format("{} of {} bytes needs {} for its vectors on each GPU, and its memory has {}",
                                 sim::name_of(job.collective), job.bytes.count(),
                                 gib(sizes.input + sizes.output), gib(capacity)));
  }
  std::vector<int> gpus(static_cast<std::size_t>(job.gpus / job.groups));
  const coll::Request request{.collective = job.collective,
                              .bytes = job.bytes,
                              .gpus = gpus,
                              .fabric = nullptr,
                              .tuning = tuning_of(job),
                              .root = job.root,
                              .engine = job.engine};
  if (const std::int64_t steps = coll::most_steps(*job.algorithm, request) * job.groups; steps > kMostSteps) {
    return sim::fail(fmt::format("{} of {} bytes on {} GPUs is a program of up to {}, more than {} million",
                                 job.algorithm->name, job.bytes.count(), job.gpus,
                                 steps < 1'000'000'000
                                     ? fmt::format("{} million steps", steps / 1'000'000)
                                     : fmt::format("{:.1f} billion steps", static_cast<double>(steps) / 1e9),
                                 kMostSteps / 1'000'000));
  }
  return check_values(job, {});
}

sim::Result<PreparedJob> prepare(const CollectiveJob& job, const sim::GoOn& go_on) {
  PreparedJob p;
  p.job_ = job;
  if (job.fault) {
    auto again = prepare_second_try(job, go_on);
    if (!again) return sim::fail_as(std::move(again));
    p.again_ = std::make_shared<const PreparedJob>(*std::move(again));
  }
  if (auto ok = check_request(job); !ok) return sim::fail_as(std::move(ok));
  p.groups_ = groups_of(job);
  for (const auto& gpus : p.groups_) {
    if (sim::asked_to_stop(go_on)) return sim::interrupted();
    auto program = program_for(job, gpus, go_on);
    if (!program) return sim::fail(sim::prefixed(job.program->name, std::move(program).error()));
    p.programs_.push_back(*std::move(program));
  }
  if (sim::asked_to_stop(go_on)) return sim::interrupted();
  if (auto ok = check_program(job, p.program(), go_on); !ok) return sim::fail_as(std::move(ok));
  if (sim::asked_to_stop(go_on)) return sim::interrupted();
  p.burst_ = choose_burst(job, p.programs_, p.groups_);
  return p;
}

void CollectiveResult::take_time(const CollectiveJob& job, sim::Time t) {
  time = t;
  if (time > sim::Time{}) algbw_gbps = static_cast<double>(job.bytes.count()) / time.in_s() * 1e-9;
  busbw_gbps =
      algbw_gbps * coll::bus_factor(job.collective, job.gpus / job.groups, job.system->coll.experts.fan_out);
}

CollectiveOutcome run(const CollectiveJob& job, const KeepGoing& keep_going) {
  auto prepared = prepare(job);
  if (!prepared) return sim::fail_as(std::move(prepared));
  return run(*prepared, keep_going);
}

CollectiveOutcome run(const PreparedJob& prepared, const KeepGoing& keep_going) {
  return prepared.job().fault ? run_with_fault(prepared, keep_going) : run_undisturbed(prepared, keep_going);
}

CollectiveOutcome run_undisturbed(const PreparedJob& prepared, const KeepGoing& keep_going) {
  const CollectiveJob& job = prepared.job();
  const std::vector<coll::Program>& programs = prepared.programs();
  const auto stopped = [&keep_going] { return keep_going && !keep_going(0); };
  if (stopped()) return sim::interrupted();
  gpu::Machine machine(
      job.system->plan(),
      {.burst = prepared.burst(), .functional = job.check, .in_network = programs.front().in_network()});
  std::optional<sim::TraceRecorder> trace;
  std::optional<sim::Sampler> sampler;
  if (job.trace) {
    trace.emplace(*job.trace);
    sampler.emplace(*trace, machine.events());
    watch_machine(*sampler, *trace, machine, job.gpus);
  }
  Bench bench(job, machine, programs, prepared.groups(), trace ? &*trace : nullptr);
  if (stopped()) return sim::interrupted();  // large programs take long to connect
  if (sampler) sampler->start();
  if (!bench.run(keep_going)) return sim::interrupted();
  if (sampler) sampler->finish();
  if (!bench.done()) return sim::deadlock(bench.who_waits());
  INFOLD_CHECK(machine.quiet(), "after a collective nothing is in flight and all credits are home");

  CollectiveResult result = read_counters(job, bench, machine, programs.front(), prepared.groups().front());
  result.burst = prepared.burst();
  result.events = machine.events().handled() - (sampler ? sampler->events() : 0);
  result.trace = std::move(trace);
  return result;
}

}  // namespace infold::study
