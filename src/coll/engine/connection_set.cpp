// Every connection of a program gets a buffer and flags, and the protocol of a channel at each end.
#include "coll/engine/connection_set.h"

#include <fmt/format.h>

#include <algorithm>

#include "coll/program/chunking.h"
#include "sim/check.h"
#include "sim/random.h"

namespace infold::coll {

ConnectionSet::ConnectionSet(const ExecutorContext& context, ProtocolOwner& owner)
    : program_(context.program), wiring_(program_), signals_(context.machine.signals()) {
  const bool at_ports = program_.engine == Engine::kAce;
  context_ = {
      .tuning = program_.tuning,
      .encoding = program_.encoding(),
      .on_chip = at_ports,
      // Engines signal the end of what they do; only a workgroup has to fence.
      .fence = program_.engine == Engine::kSm ? context.machine.spec().gpu.fence : sim::Time{},
      .gpus = context.gpus,
      .connections = {},
      .buffers = &context.buffers,
      .values = context.values,
      .events = &context.machine.events(),
      .trace = context.trace,
      .channels_left = static_cast<std::size_t>(program_.ranks) * static_cast<std::size_t>(program_.channels),
      .settled = [this] { release_flags(); }};
  if (context.machine.plan().nodes() > 1) {
    net_ = std::make_unique<NetTransport>(
        context.machine, context_.connections, static_cast<std::uint64_t>(buffer_slots(program_.tuning)),
        context.values != nullptr,
        NetTransport::Client{.landed = [this](const NetTransport::Landing& l) { net_landed(l); },
                             .control_seen =
                                 [this] {
                                   --context_.flags_under_way;
                                   context_.settle();
                                 }});
    context_.net = net_.get();
  }
  context_.connections.reserve(wiring_.connections().size());
  for (std::uint32_t i = 0; i < wiring_.connections().size(); ++i)
    context_.connections.push_back(connect(context, i));
  for (int rank = 0; rank < program_.ranks; ++rank) {
    for (int channel = 0; channel < program_.channels; ++channel) {
      ChannelProtocol::Setup setup{.rank = rank,
                                   .channel = channel,
                                   .steps = &program_.steps(rank, channel),
                                   .wiring = &wiring_.channel(index_of(rank, channel))};
      if (context.trace != nullptr)
        setup.trace_track = context.trace_track(rank, fmt::format("channel {}", channel));
      channels_.push_back(std::make_unique<ChannelProtocol>(setup, context_, owner));
    }
  }
  // The flags of a connection are watched by the channel at each of its ends.
  std::uint16_t number = 0;
  for (const std::uint32_t index : wiring_.by_ends()) {
    const Wiring::Ends& ends = wiring_.connections()[index];
    PacketConnection& connection = context_.connections[index];
    ChannelProtocol& receiver = channel(ends.to, ends.channel);
    connection.receiver = &receiver;
    connection.tail_flag = signals_.add({&receiver, ChannelProtocol::tail_arg(index), number++, at_ports});
    connection.head_flag = signals_.add(
        {&channel(ends.from, ends.channel), ChannelProtocol::head_arg(index), number++, at_ports});
  }
}

/// A collective that was broken off may have flags under way: their signals are not used again.
ConnectionSet::~ConnectionSet() {
  if (has_flags_ && context_.flags_under_way == 0) release_flags();
}

void ConnectionSet::release_flags() {
  has_flags_ = false;
  for (const PacketConnection& c : context_.connections) {
    signals_.remove(c.tail_flag);
    signals_.remove(c.head_flag);
  }
  if (net_ != nullptr) net_->release();
}

/// Gives the receiver the values, and tells it if it polls for them.
void ConnectionSet::net_landed(const NetTransport::Landing& landing) {
  PacketConnection& c = context_.connections[landing.connection];
  const gpu::Encoding& encoding = context_.encoding;
  const std::uint64_t slot = landing.number % static_cast<std::uint64_t>(buffer_slots(program_.tuning));
  if (landing.values != nullptr) {
    const std::size_t size = landing.values->size();
    const auto begin = std::min(size, static_cast<std::size_t>(encoding.data_in(landing.offset)));
    const auto end = std::min(
        size, static_cast<std::size_t>(encoding.data_in(landing.offset + std::int64_t{landing.bytes})));
    const auto part = std::span(*landing.values).subspan(begin, end - begin);
    if (landing.in_output) {
      std::ranges::copy(
          part, context_.values->memory(c.to).begin() + static_cast<std::ptrdiff_t>(landing.place + begin));
    } else {
      c.values[slot].resize(std::max(c.values[slot].size(), size));
      std::ranges::copy(part, c.values[slot].begin() + static_cast<std::ptrdiff_t>(begin));
    }
  }
  if (!landing.speaks) return;
  Landed& landed = c.landed[slot];
  const std::uint32_t before = landed.up_to();
  landed.add(landing.offset, landing.bytes);
  if (landed.up_to() > before) c.receiver->see(c, landing.number);
}

PacketConnection ConnectionSet::connect(const ExecutorContext& context, std::uint32_t index) {
  const Wiring::Ends& ends = wiring_.connections()[index];
  PacketConnection c;
  c.from = ends.from;
  c.to = ends.to;
  const gpu::Encoding encoding = program_.encoding();
  // Buffers are allocated one by one, so the link at which one begins is random. (If they lay side by side,
  // all would begin at the same few links, because their size is often a multiple of the blocks of all
  // links.)
  const auto size =
      static_cast<std::uint64_t>(round_up(encoding.wire(program_.tuning.buffer).count(), kVector));
  const auto block = static_cast<std::uint64_t>(context.machine.spec().fabric.interleave_block.count());
  c.address = index * size + sim::mix(index) % 1024 * block;
  if (program_.engine != Engine::kAce) {
    c.buffer = context.buffers.connection(ends.from, ends.to, ends.channel,
                                          sim::Bytes{static_cast<std::int64_t>(size)});
  }
  const int from = context.gpus[static_cast<std::size_t>(ends.from)];
  const int to = context.gpus[static_cast<std::size_t>(ends.to)];
  const net::Blueprint& fabric = context.machine.blueprint();
  if (fabric.node_of(from) != fabric.node_of(to)) {
    INFOLD_CHECK(program_.engine == Engine::kSm, "only workgroups send to other nodes");
    c.way = net_->add(index, from, to);
    c.send_buffer = context.buffers.sending(ends.from, ends.to, ends.channel,
                                            sim::Bytes{static_cast<std::int64_t>(size)});
  }
  const auto slots = static_cast<std::size_t>(buffer_slots(program_.tuning));
  if (encoding.flags_inside) c.landed.resize(slots);
  if (context.values != nullptr) c.values.resize(slots);
  return c;
}

std::vector<std::string> ConnectionSet::who_waits() const {
  return reasons_of(channels_, [](const auto& channel) { return channel->why_waiting(); });
}

}  // namespace infold::coll
