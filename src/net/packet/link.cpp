// Queueing, arbitration and transmission: the hot path of the simulator.
#include "net/packet/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "net/packet/network.h"
#include "sim/check.h"

namespace infold::net {

Link::Link(Network& network, const Setup& setup)
    : network_(network),
      pace_(setup.rate),
      delay_(setup.latency + setup.far_latency),
      // Looking less far ahead costs events, and nothing else.
      lookahead_ps_(
          static_cast<std::uint32_t>(std::min<std::int64_t>(setup.lookahead.count_ps(), 0xffff'ffff))),
      to_(setup.to),
      far_input_(static_cast<std::uint16_t>(setup.far_input)),
      slipping_(network.packet_by_packet() ? std::uint8_t{0} : slipping_of(setup)),
      packet_by_packet_(network.packet_by_packet()),
      ordinary_(true),
      from_gpu_(setup.from < network.gpus()),
      errs_(setup.error_distance > sim::Bytes{}),
      competes_(setup.competes),
      plain_(!errs_ && !competes_),
      passes_on_(setup.passes_on),
      mixed_(setup.mixed),
      type_(setup.type),
      deciding_(competes_            ? Deciding::kInTurn
                : !packet_by_packet_ ? Deciding::kBursts
                : from_gpu_          ? Deciding::kPacketsOfGpu
                                     : Deciding::kPacketsOfSwitch),
      arrivals_(*this),
      drain_(setup.speedup),
      one_packet_(pace_.time(network.wire(setup.type).largest_packet())),
      chance_(sim::mix(setup.id)),
      setup_(setup) {
  if (errs_) to_error_ = draw_distance();
  INFOLD_CHECK(setup.channels <= kMostChannels, "a link has at most kMostChannels virtual channels");
  INFOLD_CHECK(setup.inputs < 0xffff, "inputs are counted in 16 bits");
  if (mixed_)
    tails_ = std::make_unique<sim::RingBuffer<sim::Time>[]>(
        static_cast<std::size_t>(setup.channels * setup.inputs));
  for (std::size_t c = 0; c < static_cast<std::size_t>(setup.channels); ++c) {
    channels_[c] = Channel(setup.buffer, setup.inputs);
    freed_[c] = FreedSpace(setup.buffer, network.wire(setup.type).largest_packet());
    if (setup.passes_on) {
      // Switches tell beforehand when room is free. GPUs take packets in a latency after their arrival at the
      // latest.
      returning_[c] =
          ReturningCredits(freed_[c].lot(), setup.to < network.gpus() ? setup.latency : sim::Time{});
    }
  }
}

/// Channels of control packets and requests; they are numbered class by class.
std::uint8_t Link::slipping_of(const Setup& setup) {
  const int layers = setup.channels / setup.classes;
  const std::uint32_t one_class = (1U << layers) - 1;
  std::uint32_t mask = one_class << (static_cast<int>(PacketClass::kControl) * layers);
  if (setup.classes > static_cast<int>(PacketClass::kRequest))
    mask |= one_class << (static_cast<int>(PacketClass::kRequest) * layers);
  return static_cast<std::uint8_t>(mask);
}

void Link::set_input(std::uint32_t input, Link& from) {
  for (int c = 0; c < setup_.channels; ++c) channels_[static_cast<std::size_t>(c)].inputs[input].from = &from;
  ordinary_ = ordinary_ && !mixed_ && from.setup_.speedup == 0;
}

/// Packets that continue the last train in a queue are appended to it, which saves an entry of the queue.
bool Link::join_train(Packet& last, const Packet& more) const {
  const auto place = [](const Packet& p) {
    return p.kind() == PacketKind::kAck ? p.acknowledged() : p.offset();
  };
  if (last.flow() != more.flow() || place(last) + last.payload() != place(more)) return false;
  if (!packet_by_packet_ || last.payload() % network_.payload_of(last.kind()) != 0) return false;
  if (last.payload() + more.payload() > kMaxPayload || last.spread() != more.spread()) return false;
  last.append(more);
  return true;
}

sim::Time Link::take_tail(std::size_t channel, std::uint32_t input) {
  sim::RingBuffer<sim::Time>& tails = tails_[channel * static_cast<std::size_t>(setup_.inputs) + input];
  const sim::Time at = tails.front();
  tails.pop();
  return at;
}

/// A lot of the far buffer is free; the news needs the link's latency to get back.
void Link::return_credits(std::size_t channel) {
  FreedSpace& freed = freed_[channel];
  ReturningCredits& returning = returning_[channel];
  returning.add_lot(freed.bytes(), freed.at());
  const sim::Time known = freed.at() + setup_.latency;
  freed.take();
  if (returning.waiting) {
    returning.waiting = false;
    wake_at(sim::max(known, slips(channel) ? slip_from_ : busy_until_));
  }
}

void Link::make_room(std::size_t channel) {
  returning_[channel].make_room(network_.events().now());
}

/// A lot is full sooner than was known when the link looked for credits, so the link may have to wake sooner.
void Link::wake_for_credits(std::size_t channel) {
  const sim::Time full = returning_[channel].next();
  if (full == sim::Time::never()) return;
  wake_at(sim::max(full + setup_.latency, slips(channel) ? slip_from_ : busy_until_));
}

void Link::handle(std::uint32_t /*event*/) {
  if (network_.events().now() != wake_) return;
  // The most frequent kinds are told apart by one comparison each.
  if (deciding_ == Deciding::kPacketsOfGpu) return send_all_known<Mode::kPackets, Near::kGpu>();
  if (deciding_ == Deciding::kPacketsOfSwitch) return send_all_known<Mode::kPackets, Near::kSwitch>();
  if (deciding_ == Deciding::kInTurn) return network_.decide_in_turn(setup_.from);
  decide();
}

void Link::decide() {
  if (packet_by_packet_) {
    from_gpu_ ? send_all_known<Mode::kPackets, Near::kGpu>()
              : send_all_known<Mode::kPackets, Near::kSwitch>();
  } else {
    from_gpu_ ? send_all_known<Mode::kBursts, Near::kGpu>() : send_all_known<Mode::kBursts, Near::kSwitch>();
  }
}

void Link::Arrivals::handle(std::uint32_t /*event*/) {
  const Packet packet = packets.front();
  packets.pop();
  if (!packets.empty()) {
    // A request that slipped in between the packets of a burst comes before the burst's end, and is seen with
    // it.
    const sim::Time at = sim::max(packets.front().arrives, network.events().now());
    network.events().schedule(at, sim::Priority::kArrive, *this, 0);
  }
  network.deliver(packet, link);
}

void Link::schedule_wake(sim::Time at) {
  wake_ = at;
  network_.events().schedule(at, sim::Priority::kArbitrate, *this, 0);
}

/// As long as it decides, wake_ stays what it is, so that nothing wakes it: it will have seen everything.
template <Link::Mode mode, Link::Near near>
void Link::send_all_known() {
  const sim::Time start = network_.events().now();
  sim::Time unknown = start + sim::Time::ps(lookahead_ps_);
  if (mode == Mode::kPackets && start < busy_until_) [[unlikely]] {
    // A control packet was sent at once since it asked to be woken.
    wake_ = sim::Time::never();
    if (waiting_channels_ != 0) schedule_wake(busy_until_);
    return;
  }
  for (sim::Time now = start;;) {
    sim::Time next = sim::Time::never();
    const Sent sent = send_one<mode, near>(now, next, start, unknown);
    if (sent == Sent::kYes) {
      if (waiting_channels_ == 0) {
        wake_ = sim::Time::never();
        return;
      }
      next = (waiting_channels_ & slipping_) != 0 ? slip_from_ : busy_until_;
    }
    if (next >= unknown || sent == Sent::kUnknown) {
      wake_ = sim::Time::never();
      if (next != sim::Time::never()) schedule_wake(next);
      return;
    }
    now = next;
  }
}

/// Returns whether the link had the credits. Requires: a control packet that is there now, and none_before.
bool Link::send_at_once(Packet packet, std::uint8_t channel, std::uint32_t input) {
  INFOLD_DCHECK(from_gpu_, "units queue their control packets");
  INFOLD_DCHECK(!packet_by_packet_ || packet.packets() == 1, "control packets form no trains");
  Channel& c = channels_[channel];
  const sim::Time now = packet.arrives;
  const sim::Bytes wire = network_.wire(type_).of(packet);
  if (!c.credits.enough(wire)) [[unlikely]] {
    c.credits.add(returning_[channel].collect(now - setup_.latency));
    if (!c.credits.enough(wire)) return false;
  }
  c.credits.spend(wire);
  c.waiting.served(input);
  last_channel_ = channel;
  Way onward;
  if (packet.destination() != to_) onward = network_.way_on(packet, to_);
  if (packet_by_packet_) {
    transmit<Mode::kPackets, Near::kGpu>(packet, c, channel, wire, nullptr, onward, now);
  } else {
    transmit<Mode::kBursts, Near::kGpu>(packet, c, channel, wire, nullptr, onward, now);
  }
  return true;
}

/// Called when credits do not suffice: either more are back at `now`, or it is known when they may be. What
/// is known was known at `start`.
Link::Look Link::look_for_credits(std::size_t index, sim::Bytes wire, sim::Time now, sim::Time start) {
  Credits& credits = channels_[index].credits;
  ReturningCredits& returning = returning_[index];
  // Outputs of the far chip that have not decided yet may free room before those that have.
  const bool known = now <= start + setup_.latency;
  if (!known && passes_on_) return {.found = Sent::kUnknown};
  network_.catch_up(to_);
  credits.add(returning.collect(now - setup_.latency));
  if (credits.enough(wire)) {
    returning.waiting = false;
    return {.found = Sent::kYes};
  }
  if (!known) return {.found = Sent::kUnknown};  // credits may be back by then that have not been sent yet
  const sim::Time more = returning.next();
  returning.waiting = passes_on_ || more == sim::Time::never();
  // It is not certain when more will be back, so other channels cannot be decided beyond that time either.
  return {.found = Sent::kNo,
          .next = more + setup_.latency,
          .unknown = returning.waiting ? start + setup_.latency : sim::Time::never()};
}

/// Sends the next packet in turn: channels take turns, and within a channel its inputs do. If there is
/// none to send at `now`, `next` is when there may be. What is known was known at `start`. Where credits are
/// short it is known for a shorter time, and `unknown` becomes sooner.
template <Link::Mode mode, Link::Near near>
[[gnu::always_inline]] inline Link::Sent Link::send_one(sim::Time now, sim::Time& next, sim::Time start,
                                                        sim::Time& unknown) {
  std::uint32_t candidates = waiting_channels_;
  if (mode == Mode::kBursts && now < busy_until_) {
    // While a burst is on the wire, only channels that may slip in are considered.
    next = busy_until_;
    candidates &= slipping_;
    if (now < slip_from_) {
      if (candidates != 0) next = sim::min(next, slip_from_);
      return Sent::kNo;
    }
  }
  for (std::size_t index = 0; candidates != 0; candidates ^= 1U << index) {
    // The turn is that of the first channel after the last one served, or of the first of all.
    const std::uint32_t after = candidates & (~1U << last_channel_);
    index = static_cast<std::uint32_t>(std::countr_zero(after != 0 ? after : candidates));
    Channel& channel = channels_[index];
    const std::uint32_t number = channel.waiting.find([&](std::uint32_t i) {
      // It must be there, and its input buffer must not be busy with other outputs.
      const Input& input = channel.inputs[i];
      sim::Time ready = input.first.arrives;
      if (!ordinary_ && input.from != nullptr) ready = sim::max(ready, input.from->drain_.free_at());
      if (ready <= now) return true;
      next = sim::min(next, ready);
      return false;
    });
    if (number == RoundRobin::kNone) continue;
    Input& input = channel.inputs[number];
    const Packet& first = input.first;
    // A train is cut on its first link, which is one of a GPU.
    const bool train = mode == Mode::kPackets && near == Near::kGpu && first.packets() > 1;
    INFOLD_DCHECK(mode != Mode::kPackets || train || first.packets() == 1, "switches pass packets on");
    const std::uint16_t payload = train ? network_.payload_of(first.kind()) : first.payload();
    const WireCost& cost = network_.wire(type_);
    const sim::Bytes wire = mode == Mode::kPackets ? cost.of_one(first.kind(), payload) : cost.of(first);
    if (!channel.credits.enough(wire)) [[unlikely]] {
      const Look look = look_for_credits(index, wire, now, start);
      if (look.found == Sent::kUnknown) {
        next = now;
        return Sent::kUnknown;
      }
      if (look.found == Sent::kNo) {
        next = sim::min(next, look.next);
        unknown = sim::min(unknown, look.unknown);
        continue;
      }
    }
    channel.credits.spend(wire);
    Way onward;
    if (first.destination() != to_) onward = network_.way_on(first, to_);
    Packet packet = train ? input.first.cut(payload) : first;
    if (!train && !input.pop()) {
      channel.waiting.remove(number);
      if (!channel.waiting.any())
        waiting_channels_ = static_cast<std::uint8_t>(waiting_channels_ & ~(1U << index));
    }
    channel.waiting.served(number);
    last_channel_ = static_cast<std::uint8_t>(index);
    transmit<mode, near>(packet, channel, index, wire, input.from, onward, now);
    return Sent::kYes;
  }
  return Sent::kNo;
}

/// A bit error is seen at the far end, which asks for the packet again; nothing passes it meanwhile.
sim::Time Link::replay(sim::Bytes wire, sim::Time start) {
  to_error_ -= wire.count();
  while (to_error_ <= 0) {
    ++replays_;
    start += setup_.latency * 2 + pace_.time(wire);
    to_error_ += draw_distance() - wire.count();
    if (to_error_ <= -wire.count()) to_error_ = 1;  // errors are denser than packets: each packet has one
  }
  return start;
}

/// Draws the bytes to the next error, uniformly up to twice the mean.
std::int64_t Link::draw_distance() {
  return 1 + static_cast<std::int64_t>(
                 chance_.below(2 * static_cast<std::uint64_t>(setup_.error_distance.count())));
}

/// Puts a packet on the wire at `start`. Its credits are spent. `onward` is its way from the far end, unless
/// it ends there.
template <Link::Mode mode, Link::Near near>
[[gnu::always_inline]] inline void Link::transmit(Packet& packet, Channel& channel, std::size_t index,
                                                  sim::Bytes wire, Link* in, const Way& onward,
                                                  sim::Time start) {
  INFOLD_DCHECK(mode != Mode::kPackets || start >= busy_until_, "a wire carries one packet at a time");
  if (!plain_) [[unlikely]] {
    if (competes_) last_sent_ = start;
    if (errs_) start = replay(wire, start);
  }
  sim::Time end = start + pace_.time(wire);
  if (in == nullptr) {
    if (near == Near::kSwitch) {
      network_.departed_from_unit(packet, setup_.from, end);
    } else if (!is_control(packet.kind())) {
      network_.departed(packet, setup_.from);
    }
  } else {
    sim::Bytes held = wire;
    if (!ordinary_) [[unlikely]] {
      if (mixed_) {
        // It leaves an input buffer no sooner than its tail arrives, which any link on its way may have
        // slowed.
        held = network_.wire(in->type_).of(packet);
        end = sim::max(end, take_tail(index, in->far_input_));
      }
      in->drain_.use_until(end);
    }
    in->buffer_left(packet.channel(), held, end);
  }
  if (mode == Mode::kPackets) {
    busy_until_ = end;
  } else if (start < busy_until_) {
    // It slips in between the packets of the burst on the wire, which is that much longer under way.
    slip_from_ = end;
    busy_until_ += end - start;
    ++bursts_;
  } else {
    busy_until_ = end;
    // (A burst of small packets, such as a unit's, may be over before the largest packet would be.)
    slip_from_ = packet.packets() > 1 && !slips(index) ? sim::min(start + one_packet_, end) : end;
    ++bursts_;
  }

  channel.traffic.wire_bytes += static_cast<std::uint64_t>(wire.count());
  channel.traffic.packets += mode == Mode::kPackets ? std::uint64_t{1} : packet.packets();

  packet.set_channel(static_cast<std::uint8_t>(index));
  if (onward.link != nullptr) {
    // A switch passes on a packet's first byte at once ...
    packet.arrives = start + delay_;
    if (mode == Mode::kPackets) {
      onward.link->accept_single(packet, onward.channel, far_input_);
    } else {
      onward.link->accept(packet, onward.channel, far_input_);
    }
    if (mixed_) [[unlikely]]
      onward.link->note_tail(onward.channel, far_input_, end + delay_);
    return;
  }
  // ... and its destination sees it when its last byte is there.
  packet.arrives = end + delay_;
  if (is_control(packet.kind())) {
    // It leaves the buffer as it arrives: that of a unit by itself, a GPU's in order.
    if (to_ < network_.gpus()) {
      network_.expect(packet, to_);
      buffer_freed(index, wire, packet.arrives);
    } else {
      network_.expect_at_unit(packet, to_, setup_.id);
      buffer_left(index, wire, packet.arrives);
    }
    return;
  }
  if (port_ != nullptr && port_->expect_data(packet, *this)) return;
  if (arrivals_.packets.empty())
    network_.events().schedule(packet.arrives, sim::Priority::kArrive, arrivals_, 0);
  arrivals_.packets.push(packet);
}

sim::Bytes Link::credits_home(std::size_t channel) const {
  return channels_[channel].credits.held() + returning_[channel].total() + freed_[channel].bytes();
}

void Link::start_anew() {
  last_channel_ = 0;
  for (std::size_t c = 0; c < static_cast<std::size_t>(setup_.channels); ++c) {
    channels_[c].waiting.start_anew();
    channels_[c].credits = Credits(setup_.buffer);
    returning_[c].start_anew();
    freed_[c].take();
  }
}

bool Link::all_credits_home() const {
  for (std::size_t c = 0; c < static_cast<std::size_t>(setup_.channels); ++c) {
    if (credits_home(c) != setup_.buffer) return false;
  }
  return true;
}

sim::Bytes Link::in_flight() const {
  sim::Bytes sum;
  for (std::size_t c = 0; c < static_cast<std::size_t>(setup_.channels); ++c)
    sum += setup_.buffer - credits_home(c);
  return sum;
}

Link::Traffic Link::traffic() const {
  Traffic sum;
  for (const Channel& c : channels_) {
    sum.wire_bytes += c.traffic.wire_bytes;
    sum.packets += c.traffic.packets;
  }
  return sum;
}

std::string Link::why_waiting() const {
  if (waiting_channels_ == 0) return {};
  std::size_t waiting = 0;
  std::string channels;
  for (std::size_t c = 0; c < static_cast<std::size_t>(setup_.channels); ++c) {
    if (channels_[c].waiting.any()) channels += fmt::format("{}{}", channels.empty() ? "" : ", ", c);
    for (int i = 0; i < setup_.inputs; ++i)
      waiting += channels_[c].inputs[static_cast<std::size_t>(i)].size();
  }
  return fmt::format("link {}->{}: {} entries wait for credits on virtual channel {}",
                     network_.name(setup_.from), network_.name(setup_.to), waiting, channels);
}

}  // namespace infold::net
