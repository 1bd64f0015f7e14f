// In order of arrival over all links.
#include "gpu/inbox.h"

#include "sim/check.h"

namespace infold::gpu {

Inbox::Inbox(sim::EventQueue& events, net::Network& network, MemorySystem& memory, MoveTable& moves,
             net::Payloads* payloads, int lanes, sim::Time latency)
    : takes_data_(network.packet_by_packet() && static_cast<std::size_t>(lanes) <= Earliest::kMost),
      heads_(takes_data_ ? static_cast<std::size_t>(lanes) : 1),
      lanes_(static_cast<std::size_t>(lanes)),
      moves_(moves),
      memory_(memory),
      network_(network),
      payloads_(payloads),
      events_(events),
      latency_(latency) {
  memory.set_inbox(*this);
}

void Inbox::add(const net::Packet& packet, net::Link& in) {
  INFOLD_DCHECK(takes_data_, "it tells its links apart");
  const std::uint32_t number = in.far_lane();
  Lane& lane = lanes_[number];
  if (lane.packets.empty()) {
    lane.link = &in;
    heads_.set(number, packet.arrives);
    memory_.set_due(heads_.at());
    wake_for(packet.arrives);
  }
  INFOLD_DCHECK(lane.packets.empty() || lane.packets.back().arrives <= packet.arrives,
                "a link keeps the order");
  lane.packets.push(packet);
}

void Inbox::give_values(const Move& move, const net::Packet& packet) {
  const auto offset = static_cast<std::uint32_t>(move.encoding.data_in(packet.offset));
  move.client->consume(move.cookie, offset, (*payloads_)[packet.values]);
  payloads_->give_back(packet.values);
}

void Inbox::wake_for(sim::Time arrival) {
  const sim::Time at = arrival + latency_;
  if (wake_ <= at) return;
  wake_ = at;
  events_.schedule(at, sim::Priority::kArrive, *this, 0);
}

void Inbox::handle(std::uint32_t /*event*/) {
  if (events_.now() != wake_) return;
  wake_ = sim::Time::never();
  take_in(events_.now());
  if (heads_.at() != sim::Time::never()) wake_for(heads_.at());
}

void Inbox::take_in(sim::Time now) {
  memory_.set_due(sim::Time::never());  // so that its own writes do not look here again
  while (heads_.at() <= now) {
    const std::uint32_t number = heads_.which();
    Lane& lane = lanes_[number];
    const net::Packet packet = lane.packets.front();
    MoveTable::Entry& entry = moves_[packet.flow];
    INFOLD_DCHECK(packet.arrives + latency_ >= now, "credits are never late");
    lane.packets.pop();
    heads_.set(number, lane.packets.empty() ? sim::Time::never() : lane.packets.front().arrives);
    consume(entry.move, packet);
    network_.taken_in(packet, *lane.link, memory_.write(entry.arriving, packet.payload, packet.arrives));
  }
  memory_.set_due(heads_.at());
}

}  // namespace infold::gpu
