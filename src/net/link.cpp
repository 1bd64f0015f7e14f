// Queueing, arbitration and transmission: the hot path of the simulator.
#include "net/link.h"

#include <fmt/format.h>

#include <bit>

#include "net/network.h"
#include "sim/check.h"

namespace infold::net {

Link::Link(Network& network, const Setup& setup)
    : network_(network),
      events_(network.events()),
      pace_(setup.rate),
      delay_(setup.latency + setup.far_latency),
      latency_(setup.latency),
      // Ways out of an input buffer are shared with other links, which then must decide in order of time.
      lookahead_(setup.from_switch && setup.speedup == 0 ? setup.latency : sim::Time{}),
      to_(setup.to),
      channel_count_(static_cast<std::uint8_t>(setup.channels)),
      one_packet_(pace_.time(network.wire().largest_packet())),
      slipping_channels_(
          static_cast<std::uint8_t>(network.packet_by_packet() ? 0 : setup.channels / kPacketClasses)),
      packet_by_packet_(network.packet_by_packet()),
      limited_drain_(setup.speedup != 0),
      drain_(setup.speedup),
      setup_(setup) {
  INFOLD_CHECK(setup.channels <= kMostChannels, "a link has at most kMostChannels virtual channels");
  for (std::uint8_t c = 0; c < channel_count_; ++c) {
    channels_[c] = Channel(setup.buffer, setup.inputs);
    freed_[c] = FreedSpace(setup.buffer, network.wire().largest_packet());
  }
}

void Link::set_input(std::uint32_t input, Link& from) {
  for (std::uint8_t c = 0; c < channel_count_; ++c) channels_[c].inputs[input].from = &from;
  slower_input_ = slower_input_ || from.setup_.rate < setup_.rate;
}

void Link::accept(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
  Channel& c = channels_[channel];
  Input& in = c.inputs[input];
  if (in.empty()) {
    c.waiting.add(input);
    waiting_channels_ = static_cast<std::uint8_t>(waiting_channels_ | 1U << channel);
  } else if (packet.packets > 1 && join_train(in.last(), packet)) {
    return;  // somebody is waiting already, so the link will wake
  }
  in.push(packet);
  wake_at(sim::max(packet.arrives, channel < slipping_channels_ ? slip_from_ : busy_until_));
}

/// What continues the last train in a queue is put behind it: as many packets, fewer entries.
bool Link::join_train(Packet& last, const Packet& more) const {
  if (last.flow != more.flow || last.offset + last.payload != more.offset) return false;
  if (!packet_by_packet_ || last.payload % network_.payload_of(last.kind) != 0) return false;
  if (last.payload + more.payload > kMaxPayload || last.spread != more.spread) return false;
  last.payload = static_cast<std::uint16_t>(last.payload + more.payload);
  last.packets = static_cast<std::uint16_t>(last.packets + more.packets);
  return true;
}

/// A lot of the far buffer is free; the news needs the link's latency to get back.
void Link::return_credits(std::uint8_t channel) {
  FreedSpace& freed = freed_[channel];
  Credits& credits = channels_[channel].credits;
  const sim::Time known = freed.at() + latency_;
  credits.coming(freed.bytes(), known);
  freed.take();
  if (credits.starving) {
    credits.starving = false;
    wake_at(sim::max(known, channel < slipping_channels_ ? slip_from_ : busy_until_));
  }
}

void Link::handle(std::uint32_t event) {
  if (event == kArrival) {
    arrive();
  } else if (events_.now() == wake_) {
    wake_ = sim::Time::never();
    if (packet_by_packet_) {
      send_all_known<Mode::kPackets>();
    } else {
      send_all_known<Mode::kBursts>();
    }
  }
}

void Link::arrive() {
  const Packet packet = arriving_.front();
  arriving_.pop();
  if (!arriving_.empty()) {
    events_.schedule(arriving_.front().arrives, sim::Priority::kArrive, *this, kArrival);
  }
  network_.deliver(packet, *this);
}

void Link::wake_at(sim::Time at) {
  if (wake_ <= at) return;  // it will look again then, and later if it must
  wake_ = at;
  events_.schedule(at, sim::Priority::kArbitrate, *this, kSend);
}

template <Link::Mode mode>
void Link::send_all_known() {
  sim::Time now = events_.now();
  const sim::Time unknown = now + lookahead_;
  for (;;) {
    sim::Time next = sim::Time::never();
    if (send_one<mode>(now, next)) {
      if (waiting_channels_ == 0) return;
      next = mode == Mode::kBursts ? slip_from_ : busy_until_;
    }
    if (next >= unknown) {
      if (next != sim::Time::never()) wake_at(next);
      return;
    }
    now = next;
  }
}

/// Sends the next packet in turn: channels take turns, and within a channel its inputs do. If there is
/// none to send now, `next` is when there may be.
template <Link::Mode mode>
[[gnu::always_inline]] inline bool Link::send_one(sim::Time now, sim::Time& next) {
  std::uint32_t candidates = waiting_channels_;
  if (mode == Mode::kBursts && now < busy_until_) {
    // A burst is on the wire: only what may slip in comes into question.
    next = busy_until_;
    candidates &= (1U << slipping_channels_) - 1;
  }
  while (candidates != 0) {
    // The first channel after the last one served, or the first of all.
    const std::uint32_t after = candidates & ~((2U << last_channel_) - 1);
    const auto index = static_cast<std::uint8_t>(std::countr_zero(after != 0 ? after : candidates));
    candidates &= ~(1U << index);
    Channel& channel = channels_[index];
    const std::uint32_t number = channel.waiting.find([&](std::uint32_t i) {
      // It must be there, and its input buffer must not be busy with other outputs.
      const Input& input = channel.inputs[i];
      sim::Time ready = input.first.arrives;
      if (limited_drain_ && input.from != nullptr) ready = sim::max(ready, input.from->drain_.free_at());
      if (ready <= now) return true;
      next = sim::min(next, ready);
      return false;
    });
    if (number == RoundRobin::kNone) continue;
    Input& input = channel.inputs[number];
    Packet packet = input.first;
    const bool train = mode == Mode::kPackets && packet.packets > 1;
    if (train) {
      packet.packets = 1;
      packet.payload = network_.payload_of(packet.kind);
    }
    const sim::Bytes wire = network_.wire().of(packet);
    if (!channel.credits.enough(wire, now)) {
      channel.credits.starving = channel.credits.next() == sim::Time::never();
      next = sim::min(next, channel.credits.next());
      continue;
    }
    channel.credits.spend(wire);
    if (train) {
      input.first.offset += packet.payload;
      input.first.payload = static_cast<std::uint16_t>(input.first.payload - packet.payload);
      --input.first.packets;
    } else {
      input.pop();
      if (input.empty()) {
        channel.waiting.remove(number);
        if (!channel.waiting.any())
          waiting_channels_ = static_cast<std::uint8_t>(waiting_channels_ & ~(1U << index));
      }
    }
    channel.waiting.served(number);
    last_channel_ = index;
    transmit<mode>(packet, index, wire, input.from, now);
    return true;
  }
  return false;
}

/// Puts a packet on the wire at `start`. Its credits are spent.
template <Link::Mode mode>
[[gnu::always_inline]] inline void Link::transmit(Packet& packet, std::uint8_t channel, sim::Bytes wire,
                                                  Link* in, sim::Time start) {
  sim::Time end = start + pace_.time(wire);
  if (in == nullptr) {
    network_.departed(packet);
  } else {
    // Out of an input buffer: not ahead of what has arrived.
    if (slower_input_) end = sim::max(end, packet.arrives + in->pace_.time(wire));
    if (limited_drain_) in->drain_.use_until(end);
    in->buffer_freed(packet.channel, wire, end);
  }
  if (mode == Mode::kBursts && start < busy_until_) {
    // It slips in between the packets of the burst on the wire, which is that much longer under way.
    slip_from_ = end;
    busy_until_ += end - start;
  } else {
    busy_until_ = end;
    slip_from_ = mode == Mode::kBursts && packet.packets > 1 && channel >= slipping_channels_
                     ? start + one_packet_
                     : end;
  }

  wire_bytes += static_cast<std::uint64_t>(wire.count());
  payload_bytes += packet.payload;
  packets += packet.packets;
  ++units;

  packet.channel = channel;
  if (packet.destination != to_) {
    // A switch passes on a packet's first byte at once ...
    packet.arrives = start + delay_;
    network_.forward(packet, to_, setup_.far_input);
    return;
  }
  // ... and its destination sees it when its last byte is there.
  packet.arrives = end + delay_;
  if (class_of(packet.kind) == PacketClass::kControl) {
    network_.expect(packet, *this);
    return;
  }
  if (arriving_.empty()) events_.schedule(packet.arrives, sim::Priority::kArrive, *this, kArrival);
  arriving_.push(packet);
}

bool Link::all_credits_home() const {
  for (std::uint8_t c = 0; c < channel_count_; ++c) {
    if (channels_[c].credits.home() + freed_[c].bytes() != setup_.buffer) return false;
  }
  return true;
}

std::string Link::why_waiting() const {
  if (waiting_channels_ == 0) return {};
  std::size_t waiting = 0;
  std::string channels;
  for (std::uint8_t c = 0; c < channel_count_; ++c) {
    if (channels_[c].waiting.any()) channels += fmt::format("{}{}", channels.empty() ? "" : ", ", c);
    for (int i = 0; i < setup_.inputs; ++i)
      waiting += channels_[c].inputs[static_cast<std::size_t>(i)].size();
  }
  return fmt::format("link {}->{}: {} entries wait for credits on virtual channel {}",
                     network_.name(setup_.from), network_.name(setup_.to), waiting, channels);
}

}  // namespace infold::net
