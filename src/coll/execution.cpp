// Wiring of connections and runners, start and end of a rank's kernel.
#include "coll/execution.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "coll/chunking.h"
#include "sim/check.h"
#include "sim/random.h"

namespace infold::coll {

Buffers::Sizes buffers_for(const Program& program) {
  const BufferSizes sizes = buffer_sizes(program.collective, program.bytes, program.ranks);
  return {.input = sizes.input,
          .output = sizes.output + program.scratch,
          .in_place = program.collective == Collective::kAllReduce};
}

Execution::Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options)
    : machine_(machine),
      program_(program),
      gpus_(std::move(gpus)),
      options_(std::move(options)),
      workgroups_(static_cast<std::size_t>(program.ranks) * static_cast<std::size_t>(program.channels)),
      finished_(static_cast<std::size_t>(program.ranks)) {
  if (options_.buffers == nullptr) {
    own_buffers_ = std::make_unique<Buffers>(machine, gpus_, buffers_for(program));
    options_.buffers = own_buffers_.get();
  }
  for (int rank = 0; rank < program.ranks; ++rank) kernels_.emplace_back(*this, rank);
  context_ = {.tuning = program.tuning,
              .gpus = gpus_,
              .connections = &connections_,
              .buffers = options_.buffers,
              .values = options_.values,
              .events = &machine.events(),
              .trace = options_.trace};
  std::map<std::tuple<int, int, int>, std::uint32_t> known;  // (from, to, channel)
  const auto connection = [&](int from, int to, int channel) {
    const auto [place, added] = known.try_emplace({from, to, channel}, 0);
    if (added) place->second = connect(from, to, channel);
    return place->second;
  };
  for (int rank = 0; rank < program.ranks; ++rank) {
    for (int channel = 0; channel < program.channels; ++channel) {
      const auto& steps = program.steps(rank, channel);
      Runner::Setup setup{.rank = rank, .channel = channel, .steps = &steps, .first = {}, .connections = {}};
      for (const Step& s : steps) {
        setup.first.push_back(static_cast<std::uint32_t>(setup.connections.size()));
        for (int from : s.from) setup.connections.push_back(connection(from, rank, channel));
        for (int to : s.to) setup.connections.push_back(connection(rank, to, channel));
      }
      if (options_.trace != nullptr) {
        setup.trace_track = options_.trace->add_track(fmt::format("rank {} channel {}", rank, channel));
      }
      runners_.push_back(std::make_unique<Runner>(std::move(setup), context_, *this));
    }
  }
  // The flags of a connection are watched by the runner at each of its ends.
  for (const auto& [ends, index] : known) {
    const auto& [from, to, on] = ends;
    const auto runner = [&, channel = on](int rank) -> Runner& { return *runners_[index_of(rank, channel)]; };
    connections_[index].receiver = &runner(to);
    connections_[index].tail_flag = machine.signals().add(runner(to), Runner::tail_arg(index));
    connections_[index].head_flag = machine.signals().add(runner(from), Runner::head_arg(index));
  }
}

std::uint32_t Execution::connect(int from, int to, int channel) {
  Connection c;
  c.from = from;
  c.to = to;
  const auto index = static_cast<std::uint32_t>(connections_.size());
  const gpu::Encoding encoding = encoding_of(program_.tuning.protocol);
  // Buffers are allocated one by one, so at which link one begins is up to chance. (Side by side they would
  // all begin at the same few, as their size is often a multiple of all links' blocks.)
  const auto size =
      static_cast<std::uint64_t>(round_up(encoding.wire(program_.tuning.buffer).count(), kVector));
  const auto block = static_cast<std::uint64_t>(machine_.spec().fabric.interleave_block.count());
  c.address = index * size + sim::mix(index) % 1024 * block;
  c.buffer = options_.buffers->connection(from, to, channel, sim::Bytes{static_cast<std::int64_t>(size)});
  const auto slots = static_cast<std::size_t>(buffer_slots(program_.tuning));
  c.complete.resize(slots);
  if (encoding.flags_inside) c.landed.resize(slots);
  if (options_.values != nullptr) c.values.resize(slots);
  connections_.push_back(std::move(c));
  return index;
}

void Execution::enqueue(int rank, sim::Time at) {
  gpu::Gpu& gpu = machine_.gpu(gpus_[static_cast<std::size_t>(rank)]);
  gpu::Launch launch;
  launch.work = &kernels_[static_cast<std::size_t>(rank)];
  launch.workgroups = program_.channels;
  launch.footprint.threads = program_.tuning.threads;
  launch.footprint.whole_sm = true;
  launch.actor = gpu::Actor::kCollective;
  gpu.core().dispatcher().enqueue(gpu.communication_stream(options_.stream), launch, at);
}

/// A workgroup has an SM; it begins to move data when it has set itself up.
void Execution::workgroup_started(int rank, int channel, int sm) {
  gpu::Gpu& gpu = machine_.gpu(gpus_[static_cast<std::size_t>(rank)]);
  const sim::Bytes window = program_.tuning.in_flight_per_thread * program_.tuning.threads;
  const std::size_t index = index_of(rank, channel);
  const sim::Time now = machine_.events().now();
  workgroups_[index] = {&gpu.take_workgroup(window, machine_.options().burst), sm, now};
  machine_.events().schedule(now + machine_.spec().gpu.launch, sim::Priority::kWork, *this,
                             static_cast<std::uint32_t>(index));
}

void Execution::handle(std::uint32_t workgroup) {
  Runner& runner = *runners_[workgroup];
  runner.start(machine_.gpu(gpus_[static_cast<std::size_t>(runner.rank())]), *workgroups_[workgroup].mover);
}

void Execution::runner_done(Runner& runner) {
  const Workgroup& w = workgroups_[index_of(runner.rank(), runner.channel())];
  residency_.resident += machine_.events().now() - w.started;
  residency_.waiting += runner.waited();
  gpu::Gpu& gpu = machine_.gpu(gpus_[static_cast<std::size_t>(runner.rank())]);
  gpu.release_workgroup(*w.mover);
  gpu.core().dispatcher().workgroup_done(kernels_[static_cast<std::size_t>(runner.rank())].id(), w.sm);
}

void Execution::rank_finished(int rank) {
  const sim::Time now = machine_.events().now();
  finished_[static_cast<std::size_t>(rank)] = now;
  ++ranks_done_;
  if (options_.rank_done) options_.rank_done(rank, now);
}

std::vector<std::string> Execution::who_waits() const {
  std::vector<std::string> out;
  for (const auto& r : runners_) {
    if (auto why = r->why_waiting(); !why.empty()) out.push_back(std::move(why));
  }
  return out;
}

}  // namespace infold::coll
