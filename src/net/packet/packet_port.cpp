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
  std::uint64_t packets = 0;
  for (; heads_.at() <= now; ++packets) {
    const std::uint32_t number = heads_.which();
    Lane& lane = lanes_[number];
    const Packet& packet = lane.packets.front();
    INFOLD_DCHECK(packet.packets() == 1, "bursts do not wait");
    INFOLD_DCHECK(packet.arrives + latency_ >= now, "credits are never late");
    payload_received_ += packet.payload();
    const sim::Bytes wire = network_.wire(lane.link->type()).of_one(packet.kind(), packet.payload());
    lane.link->buffer_freed(packet.channel(), wire, endpoint_->take_in(packet));
    lane.packets.pop();
    heads_.set(number, lane.packets.empty() ? sim::Time::never() : lane.packets.front().arrives);
  }
  network_.count_delivered(packets);
  set_due(heads_.at());
}

void PacketPort::receive(const Packet& packet, Link& in) {
  payload_received_ += packet.payload();
  network_.count_delivered(packet.packets());
  in.buffer_freed(packet.channel(), network_.wire(in.type()).of(packet), endpoint_->receive(packet));
}

}  // namespace infold::net
