// Queueing, arbitration and transmission: the hot path of the simulator.
#include "net/link.h"

#include <fmt/format.h>

#include "net/network.h"

namespace infold::net {

Link::Link(Network& network, const Setup& setup)
    : network_(network),
      events_(network.events()),
      pace_(setup.rate),
      drain_(setup.speedup),
      delay_(setup.latency + setup.far_latency),
      to_(setup.to),
      queues_(static_cast<std::size_t>(setup.channels) * static_cast<std::size_t>(setup.inputs)),
      setup_(setup) {
  channels_.reserve(static_cast<std::size_t>(setup.channels));
  for (int c = 0; c < setup.channels; ++c) channels_.emplace_back(setup.buffer, setup.inputs);
}

void Link::accept(const Packet& packet, std::uint8_t channel, std::uint32_t input) {
  RingBuffer<Packet>& fifo = queue(channel, input);
  if (fifo.empty()) channels_[channel].waiting.add(input);
  fifo.push(packet);
  ++queued_;
  wake_at(sim::max(packet.arrives, busy_until_));
}

void Link::buffer_freed(std::uint8_t channel, sim::Bytes wire, sim::Time at) {
  const sim::Time known = at + setup_.latency;
  Channel& c = channels_[channel];
  c.credits.coming(wire, known, events_.now());
  if (c.starving) {
    c.starving = false;
    wake_at(sim::max(known, busy_until_));
  }
}

void Link::handle(std::uint32_t event) {
  if (event == kArrive) {
    arrive();
  } else if (events_.now() == wake_) {
    wake_ = sim::Time::never();
    send_next();
  }
}

void Link::arrive() {
  const Packet packet = arriving_.front();
  arriving_.pop();
  if (!arriving_.empty()) events_.schedule(arriving_.front().arrives, sim::Priority::kArrive, *this, kArrive);
  network_.deliver(packet, *this);
}

void Link::wake_at(sim::Time at) {
  if (wake_ <= at) return;  // it will look again then, and later if it must
  wake_ = at;
  events_.schedule(at, sim::Priority::kArbitrate, *this, kSend);
}

/// Sends the next packet in turn: channels take turns, and within a channel its inputs do.
void Link::send_next() {
  const sim::Time now = events_.now();
  sim::Time next = sim::Time::never();  // when something may be sent if nothing can be now
  const auto count = static_cast<std::uint8_t>(channels_.size());
  std::uint8_t index = last_channel_;
  for (std::uint8_t turn = 0; turn < count; ++turn) {
    index = index + 1 == count ? std::uint8_t{0} : static_cast<std::uint8_t>(index + 1);
    Channel& channel = channels_[index];
    if (!channel.waiting.any()) continue;
    const std::uint32_t input = channel.waiting.find([&](std::uint32_t i) {
      // It must be there, and its input buffer must not be busy with other outputs.
      const Link* in = inputs_[i];
      sim::Time ready = queue(index, i).front().arrives;
      if (in != nullptr) ready = sim::max(ready, in->drain_.free_at());
      if (ready <= now) return true;
      next = sim::min(next, ready);
      return false;
    });
    if (input == RoundRobin::kNone) continue;
    RingBuffer<Packet>& fifo = queue(index, input);
    Packet& first = fifo.front();
    Packet packet = first;
    const bool train = first.packets > 1 && network_.packet_by_packet();
    if (train) {
      packet.packets = 1;
      packet.payload = network_.payload_of(packet.kind);
    }
    const sim::Bytes wire = network_.wire().of(packet);
    if (!channel.credits.enough(wire, now)) {
      channel.starving = channel.credits.next() == sim::Time::never();
      next = sim::min(next, channel.credits.next());
      continue;
    }
    if (train) {
      first.offset += packet.payload;
      first.payload = static_cast<std::uint16_t>(first.payload - packet.payload);
      --first.packets;
    } else {
      fifo.pop();
      if (fifo.empty()) channel.waiting.remove(input);
      --queued_;
    }
    channel.waiting.served(input);
    last_channel_ = index;
    transmit(packet, index, wire, inputs_[input]);
    if (queued_ > 0) wake_at(busy_until_);
    return;
  }
  if (next != sim::Time::never()) wake_at(next);
}

void Link::transmit(const Packet& packet, std::uint8_t channel, sim::Bytes wire, Link* in) {
  const sim::Time start = events_.now();
  sim::Time end;
  if (in == nullptr) {
    end = start + pace_.time(wire);
    network_.departed(packet);
  } else {
    // Out of an input buffer: not ahead of what has arrived.
    end = sim::max(start + pace_.time(wire), packet.arrives + in->pace_.time(wire));
    in->drain_.use_until(end);
    in->buffer_freed(packet.channel, wire, end);
  }
  busy_until_ = end;
  channels_[channel].credits.spend(wire);

  wire_bytes += static_cast<std::uint64_t>(wire.count());
  payload_bytes += packet.payload;
  packets += packet.packets;
  ++units;

  Packet sent = packet;
  sent.channel = channel;
  if (packet.destination == to_) {
    // Its destination sees a packet when its last byte is there ...
    sent.arrives = end + delay_;
    if (arriving_.empty()) events_.schedule(sent.arrives, sim::Priority::kArrive, *this, kArrive);
    arriving_.push(sent);
  } else {
    // ... and a switch passes on its first byte at once.
    sent.arrives = start + delay_;
    network_.forward(sent, to_, setup_.far_input);
  }
}

bool Link::all_credits_home() const {
  for (const Channel& c : channels_) {
    if (c.credits.home() != setup_.buffer) return false;
  }
  return true;
}

std::string Link::why_waiting() const {
  if (queued_ == 0) return {};
  std::size_t waiting = 0;
  for (const auto& q : queues_) waiting += q.size();
  std::string channels;
  for (std::size_t c = 0; c < channels_.size(); ++c) {
    if (channels_[c].waiting.any()) channels += fmt::format("{}{}", channels.empty() ? "" : ", ", c);
  }
  return fmt::format("link {}->{}: {} packets wait for credits on virtual channel {}", network_.name(setup_.from),
                     network_.name(setup_.to), waiting, channels);
}

}  // namespace infold::net
