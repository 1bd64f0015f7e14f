// Every pair of ranks that a step joins gets a connection, its flags, and a runner at each end.
#include "coll/engine/connection_set.h"

#include <fmt/format.h>

#include <map>
#include <tuple>

#include "coll/program/chunking.h"
#include "sim/random.h"

namespace infold::coll {

ConnectionSet::ConnectionSet(const ExecutorContext& context, RunnerOwner& owner) : program_(context.program) {
  const bool at_ports = program_.engine == Engine::kAce;
  context_ = {.tuning = program_.tuning,
              .encoding = program_.encoding(),
              .on_chip = at_ports,
              // Engines signal the end of what they do; only a workgroup has to fence.
              .fence = program_.engine == Engine::kSm ? context.machine.spec().gpu.fence : sim::Time{},
              .gpus = context.gpus,
              .connections = &connections_,
              .buffers = &context.buffers,
              .values = context.values,
              .events = &context.machine.events(),
              .trace = context.trace};
  std::map<std::tuple<int, int, int>, std::uint32_t> known;  // (from, to, channel)
  const auto connection = [&](int from, int to, int channel) {
    const auto [place, added] = known.try_emplace({from, to, channel}, 0);
    if (added) place->second = connect(context, from, to, channel);
    return place->second;
  };
  for (int rank = 0; rank < program_.ranks; ++rank) {
    for (int channel = 0; channel < program_.channels; ++channel) {
      const auto& steps = program_.steps(rank, channel);
      Runner::Setup setup{.rank = rank, .channel = channel, .steps = &steps, .first = {}, .connections = {}};
      for (const Step& s : steps) {
        setup.first.push_back(static_cast<std::uint32_t>(setup.connections.size()));
        for (int from : s.from) setup.connections.push_back(connection(from, rank, channel));
        for (int to : s.to) setup.connections.push_back(connection(rank, to, channel));
      }
      if (context.trace != nullptr)
        setup.trace_track = context.trace_track(rank, fmt::format("channel {}", channel));
      runners_.push_back(std::make_unique<Runner>(std::move(setup), context_, owner));
    }
  }
  // The flags of a connection are watched by the runner at each of its ends.
  gpu::SignalTable& signals = context.machine.signals();
  for (const auto& [ends, index] : known) {
    const auto& [from, to, channel] = ends;
    connections_[index].receiver = &runner(to, channel);
    connections_[index].tail_flag = signals.add(runner(to, channel), Runner::tail_arg(index), at_ports);
    connections_[index].head_flag = signals.add(runner(from, channel), Runner::head_arg(index), at_ports);
  }
}

std::uint32_t ConnectionSet::connect(const ExecutorContext& context, int from, int to, int channel) {
  Connection c;
  c.from = from;
  c.to = to;
  const auto index = static_cast<std::uint32_t>(connections_.size());
  const gpu::Encoding encoding = program_.encoding();
  // Buffers are allocated one by one, so at which link one begins is up to chance. (Side by side they would
  // all begin at the same few, as their size is often a multiple of all links' blocks.)
  const auto size =
      static_cast<std::uint64_t>(round_up(encoding.wire(program_.tuning.buffer).count(), kVector));
  const auto block = static_cast<std::uint64_t>(context.machine.spec().fabric.interleave_block.count());
  c.address = index * size + sim::mix(index) % 1024 * block;
  if (program_.engine != Engine::kAce)
    c.buffer = context.buffers.connection(from, to, channel, sim::Bytes{static_cast<std::int64_t>(size)});
  const auto slots = static_cast<std::size_t>(buffer_slots(program_.tuning));
  c.complete.resize(slots);
  c.silent.resize(slots);
  if (encoding.flags_inside) c.landed.resize(slots);
  if (context.values != nullptr) c.values.resize(slots);
  connections_.push_back(std::move(c));
  return index;
}

std::vector<std::string> ConnectionSet::who_waits() const {
  std::vector<std::string> out;
  for (const auto& r : runners_) {
    if (auto why = r->why_waiting(); !why.empty()) out.push_back(std::move(why));
  }
  return out;
}

}  // namespace infold::coll
