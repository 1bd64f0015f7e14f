// The fabric at work: nodes joined by links, packets in flight, endpoints at the GPUs.
//
// Conservation: every packet sent is delivered exactly once, and when nothing is in flight every credit
// is home. Both can be asked for (`quiet()`), and are asserted by the tests and by debug builds.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/blueprint.h"
#include "net/link.h"
#include "net/routes.h"
#include "sim/check.h"
#include "sim/event_queue.h"
#include "sim/stats.h"

namespace infold::net {

/// What stands at the end of a route: a GPU's ports.
class Endpoint {
 public:
  /// A whole packet (or burst) of data is here. Returns when its place in the port's buffer is free again,
  /// which is now or later.
  virtual sim::Time receive(const Packet& packet) = 0;
  /// A control packet is on its last link and will be here at packet.arrives, now or later.
  virtual void expect(const Packet& packet) = 0;
  /// A data packet that was sent from here has left for the wire.
  virtual void departed(const Packet& packet) = 0;

 protected:
  ~Endpoint() = default;
};

class Network {
 public:
  /// Senders of one GPU that take turns at its links; more share a turn.
  static constexpr std::uint32_t kSenders = 64;

  /// Requires: find_deadlock(blueprint, Routes(blueprint)) found none.
  /// `packet_by_packet`: what is sent as several packets is cut up at its first link; otherwise it
  /// travels as a burst.
  Network(sim::EventQueue& events, const Blueprint& blueprint, const FabricSpec& spec, bool packet_by_packet);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  void attach(NodeId gpu, Endpoint& endpoint) { endpoints_[gpu] = &endpoint; }

  /// Sends from packet.source, now. `sender` takes turns with the source's other senders.
  /// Requires: source != destination, payload at most max_burst().
  void send(Packet packet, std::uint32_t sender) {
    INFOLD_DCHECK(packet.source != packet.destination, "a packet goes to another node");
    INFOLD_DCHECK(packet.payload <= max_burst_.count(), "a burst fits a quarter of a buffer");
    packets_sent_ += packet.packets;
    if (packet.kind == PacketKind::kWrite) payload_sent_[packet.source] += packet.payload;
    packet.arrives = events_.now();
    forward(packet, packet.source, sender % kSenders);
  }

  /// The most payload that may be sent as one without distorting buffers: a quarter of the smallest.
  sim::Bytes max_burst() const { return max_burst_; }
  /// The spread value of an address: which of several parallel links its block uses.
  std::uint16_t spread_of(std::uint64_t address) const;
  /// Links of one GPU, each way.
  int lanes(NodeId gpu) const { return lanes_[gpu]; }

  const FabricSpec& spec() const { return spec_; }
  const Routes& routes() const { return routes_; }
  /// Nothing is in flight and every credit is home.
  bool quiet() const;
  std::vector<std::string> who_waits() const;
  std::string name(NodeId node) const;
  void register_stats(sim::StatRegistry& registry) const;

  const std::vector<std::unique_ptr<Link>>& links() const { return links_; }
  std::uint64_t packets_sent() const { return packets_sent_; }
  std::uint64_t packets_delivered() const { return packets_delivered_; }
  std::uint64_t payload_sent(NodeId gpu) const { return payload_sent_[gpu]; }
  std::uint64_t payload_received(NodeId gpu) const { return payload_received_[gpu]; }
  std::uint64_t packet_hops() const;
  std::uint64_t unit_hops() const;

  // For the links.
  sim::EventQueue& events() { return events_; }
  bool packet_by_packet() const { return packet_by_packet_; }
  std::uint16_t payload_of(PacketKind) const { return payload_; }
  const WireCost& wire() const { return wire_; }
  void forward(const Packet& packet, NodeId at, std::uint32_t input) {
    const Hop& hop = routes_.hop(at, packet.destination);
    INFOLD_DCHECK(hop.count > 0, "every destination can be reached");
    ways_[hop.pick(packet.spread)]->accept(packet, channel_of(packet, hop), input);
  }
  /// What forward() will need is fetched while the packet is being sent.
  void prefetch_way(const Packet& packet, NodeId at) const {
    ways_[routes_.hop(at, packet.destination).pick(packet.spread)]->prefetch();
  }
  void deliver(const Packet& packet, Link& in) {
    packets_delivered_ += packet.packets;
    payload_received_[packet.destination] += packet.payload;
    const sim::Time freed = endpoints_[packet.destination]->receive(packet);
    in.buffer_freed(packet.channel, wire_.of(packet), freed);
  }
  void expect(const Packet& packet, Link& in) {
    packets_delivered_ += packet.packets;
    endpoints_[packet.destination]->expect(packet);
    in.buffer_freed(packet.channel, wire_.of(packet), packet.arrives);
  }
  void departed(const Packet& packet) {
    if (class_of(packet.kind) == PacketClass::kData) endpoints_[packet.source]->departed(packet);
  }

 private:
  std::uint8_t channel_of(const Packet& packet, const Hop& hop) const {
    return static_cast<std::uint8_t>(static_cast<int>(class_of(packet.kind)) * layers_ + hop.layer);
  }

  sim::EventQueue& events_;
  FabricSpec spec_;
  int gpus_;
  Routes routes_;
  int layers_;
  WireCost wire_;
  sim::Bytes max_burst_;
  std::vector<int> lanes_;
  bool two_stages_;
  bool packet_by_packet_;
  std::uint16_t payload_;
  std::uint64_t interleave_block_;
  std::uint64_t lanes_of_first_ = 1;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<Link*> ways_;  // by Hop::pick
  std::vector<Endpoint*> endpoints_;
  std::vector<std::uint64_t> payload_sent_;
  std::vector<std::uint64_t> payload_received_;
  std::uint64_t packets_sent_ = 0;
  std::uint64_t packets_delivered_ = 0;
};

}  // namespace infold::net
