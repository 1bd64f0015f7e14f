// Keeps data in order of arrival over all links, and hands it over.
#include "net/packet/packet_port.h"

#include "net/packet/network.h"
#include "sim/check.h"

namespace infold::net {

PacketPort::PacketPort(sim::EventQueue& events, Network& network, int links, sim::Time latency)
    : lets_data_wait_(network.traits().packet_by_packet &&
                      static_cast<std::size_t>(links) <= Earliest::kMost),
      heads_(lets_data_wait_ ? static_cast<std::size_t>(links) : 1),
      lanes_(static_cast<std::size_t>(links)),
      network_(network),
      events_(events),
      latency_(latency) {}

void PacketPort::keep(const Packet& packet, Link& in) {
  const std::uint32_t number = in.far_lane();
  Lane& lane = lanes_[number];
  if (lane.packets.empty()) {
    lane.link = &in;
    heads_.set(number, packet.arrives);
    set_due(heads_.at());
    wake_for(packet.arrives);
  }
  INFOLD_DCHECK(lane.packets.empty() || lane.packets.back().arrives <= packet.arrives,
                "a link keeps the order");
  lane.packets.push(packet);
}

void PacketPort::wake_for(sim::Time arrival) {
  const sim::Time at = arrival + latency_;
  if (wake_ <= at) return;
  wake_ = at;
  events_.schedule(at, sim::Priority::kArrive, *this, 0);
}

void PacketPort::handle(std::uint32_t /*event*/) {
  if (events_.now() != wake_) return;
  wake_ = sim::Time::never();
  hand_over(events_.now());
  if (heads_.at() != sim::Time::never()) wake_for(heads_.at());
}

void PacketPort::hand_over(sim::Time now) {
  set_due(sim::Time::never());  // so that the accesses of the endpoint do not ask again
  while (heads_.at() <= now) {
    const std::uint32_t number = heads_.which();
    Lane& lane = lanes_[number];
    const Packet packet = lane.packets.front();
    INFOLD_DCHECK(packet.arrives + latency_ >= now, "credits are never late");
    lane.packets.pop();
    heads_.set(number, lane.packets.empty() ? sim::Time::never() : lane.packets.front().arrives);
    network_.taken_in(packet, *lane.link, endpoint_->take_in(packet));
  }
  set_due(heads_.at());
}

}  // namespace infold::net
