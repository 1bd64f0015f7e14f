// The fabric at work: nodes joined by links, packets in flight, endpoints at the GPUs.
//
// Conservation: every packet sent is delivered exactly once, and when nothing is in flight every credit
// is home. Both can be asked for (`quiet()`), and are asserted by the tests and by debug builds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "net/packet/link.h"
#include "net/packet/switch_unit.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/check.h"
#include "sim/divisor.h"
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
  /// Data are on their last link, `in`, and will be here at packet.arrives. Returns whether the endpoint
  /// takes them in itself (Network::taken_in), a link's latency after their arrival at the latest, because
  /// then credits are due; otherwise they will be handed to receive().
  virtual bool expect_data(const Packet& /*packet*/, Link& /*in*/) { return false; }
  /// Such an endpoint must have taken in what is here by now: a link looks at the credits that come of it, or
  /// more data are about to be received, and room is given back in order of arrival.
  virtual void catch_up() {}
  /// A packet that was sent from here, and is not control, has left for the wire.
  virtual void departed(const Packet& packet) = 0;

 protected:
  ~Endpoint() = default;
};

class alignas(64) Network {
 public:
  /// Senders of one GPU that take turns at its links; more share a turn.
  static constexpr std::uint32_t kSenders = 63;
  /// Acknowledgements of a GPU take their turn as one, behind its senders.
  static constexpr std::uint32_t kAcks = kSenders;
  static constexpr std::uint32_t kOwnInputs = kSenders + 1;

  /// Requires: prove_no_deadlock(blueprint, routes) and check_links(blueprint) found nothing; routes are
  /// those of the blueprint and outlive the network. Of `spec` only how addresses are spread counts: what
  /// links and chips are like stands in the blueprint. `packet_by_packet`: what is sent as several packets is
  /// cut up at its first link; otherwise it travels as a burst. `in_network`: whether every switch has a
  /// unit; each must then be attached before anything is sent.
  Network(sim::EventQueue& events, const Blueprint& blueprint, const Routes& routes, const FabricSpec& spec,
          bool packet_by_packet, const InNetwork& in_network = {});
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  /// Makes the links of GPUs choose what goes behind a control packet when the wire is free for it, and not
  /// together with that packet (docs/network.md): more events, and the times of an event for everything.
  void choose_when_free();

  void attach(NodeId gpu, Endpoint& endpoint) { endpoints_[index_of(gpu)] = &endpoint; }
  void attach_unit(NodeId chip, SwitchUnit& unit) { units_[unit_index(chip)] = &unit; }

  /// Sends a packet that is at packet.source now. `sender` takes turns with the source's other senders.
  /// Requires: packet.arrives is now, source != destination, payload at most max_burst().
  void send(const Packet& packet, std::uint32_t sender) {
    INFOLD_DCHECK(packet.arrives == events_.now(), "a packet is sent when it is there");
    INFOLD_DCHECK(packet.source != packet.destination, "a packet goes to another node");
    INFOLD_DCHECK(packet.payload <= max_burst_.count(), "a burst fits a quarter of a buffer");
    packets_sent_ += packet.packets;
    if (packet.kind == PacketKind::kWrite) payload_sent_[index_of(packet.source)] += packet.payload;
    const Way way = way_of(packet, packet.source);
    if (class_of(packet.kind) == PacketClass::kControl) {
      way.link->accept_control(packet, way.channel, turn_of(sender));
    } else {
      way.link->accept(packet, way.channel, turn_of(sender));
    }
  }

  /// Sends a control packet from packet.source that is there at packet.arrives, now or later.
  void send_ack(const Packet& packet) {
    INFOLD_DCHECK(class_of(packet.kind) == PacketClass::kControl, "acknowledgements are control packets");
    packets_sent_ += packet.packets;
    const Way way = way_of(packet, packet.source);
    if (packet.arrives > events_.now()) {
      way.link->accept_ahead(packet, way.channel, kAcks);
    } else {
      way.link->accept_control(packet, way.channel, kAcks);
    }
  }

  /// Sends from packet.source, now, to the unit of the switch at the other end of the lane that packet.spread
  /// picks. Requires: switches have units, and GPUs are joined by switches only.
  void send_to_unit(Packet packet, std::uint32_t sender) {
    packets_sent_ += packet.packets;
    const PacketClass c = class_of(packet.kind);
    if (c == PacketClass::kContribution || c == PacketClass::kData)
      payload_sent_[index_of(packet.source)] += packet.payload;
    Link& lane = lane_of(packet.source, packet.spread);
    packet.arrives = events_.now();
    packet.destination = lane.to();
    lane.accept(packet, first_layer(c), turn_of(sender));
  }
  /// The link that a packet with this spread value leaves a GPU by.
  Link& lane_of(NodeId gpu, std::uint16_t spread) const {
    const std::vector<Link*>& lanes = lane_links_[index_of(gpu)];
    return *lanes[spread < lanes.size() ? spread : spread % lanes.size()];
  }

  /// The most payload that may be sent as one without distorting buffers: a quarter of the smallest.
  sim::Bytes max_burst() const { return max_burst_; }
  /// The spread value of an address: which of several parallel links its block uses.
  std::uint16_t spread_of(std::uint64_t address) const;
  /// Links of one GPU, each way.
  int lanes(NodeId gpu) const { return lanes_[index_of(gpu)]; }

  /// Most payload of a packet that an SM stores, on every link.
  sim::Bytes packet_payload() const { return sim::Bytes{payload_of(PacketKind::kWrite)}; }
  /// Contiguous bytes that go over the same link.
  sim::Bytes interleave_block() const { return block_; }
  /// Nothing that is sent to this node is there sooner than so long after it left.
  sim::Time soonest_into(NodeId node) const { return soonest_[static_cast<std::size_t>(node)]; }
  const Routes& routes() const { return routes_; }
  /// Nothing is in flight and every credit is home.
  bool quiet() const;
  std::vector<std::string> who_waits() const;
  std::string name(NodeId node) const;
  void register_stats(sim::StatRegistry& registry) const;

  const std::vector<Link*>& links() const { return links_; }
  std::uint64_t packets_sent() const { return packets_sent_; }
  std::uint64_t packets_delivered() const { return packets_delivered_; }
  std::uint64_t payload_sent(NodeId gpu) const { return payload_sent_[index_of(gpu)]; }
  std::uint64_t payload_received(NodeId gpu) const { return payload_received_[index_of(gpu)]; }
  std::uint64_t packet_hops() const;
  std::uint64_t unit_hops() const;

  /// For endpoints: data that came by `in` are here, and their place in the port's buffer is free from
  /// `freed` on.
  void taken_in(const Packet& packet, Link& in, sim::Time freed) {
    packets_delivered_ += packet.packets;
    payload_received_[index_of(packet.destination)] += packet.payload;
    in.buffer_freed(packet.channel, wire(in.type()).of(packet), freed, events_.now());
  }

  // For the units of switches. What they send is there from packet.arrives on, which is at least
  // InNetwork::latency from now. A unit may tell of packets in any order: they leave in order of arrival.
  void unit_send(const Packet& packet, Link& out) {
    packets_sent_ += packet.packets;
    out.accept_ahead(packet, first_layer(class_of(packet.kind)), unit_inputs_[unit_index(out.from())]);
  }
  /// Sends to a GPU, on the ways of ordinary packets.
  void unit_send_routed(const Packet& packet, NodeId at) {
    packets_sent_ += packet.packets;
    const Way way = way_of(packet, at);
    way.link->accept_ahead(packet, way.channel, unit_inputs_[unit_index(at)]);
  }
  /// The place that a packet handed to a unit had in the buffer of `in` is free from `at` on.
  void release(const Packet& packet, Link& in, sim::Time at) {
    in.buffer_left(packet.channel, wire(in.type()).of(packet), at, events_.now());
  }
  Link& link(LinkId id) const { return *links_[id]; }
  const InNetwork& in_network() const { return in_network_; }
  int gpus() const { return gpus_; }
  int nodes() const { return nodes_; }

  // For the links.
  sim::EventQueue& events() { return events_; }
  bool packet_by_packet() const { return packet_by_packet_; }
  std::uint16_t payload_of(PacketKind kind) const { return payload_[static_cast<std::size_t>(kind)]; }
  /// What packets cost on links of this type.
  const WireCost& wire(LinkTypeId type) const { return wires_[type]; }
  /// The way of a packet out of a node that is not its destination.
  Way way_of(const Packet& packet, NodeId at) const {
    const Hop& hop = hops_[static_cast<std::size_t>(at) * static_cast<std::size_t>(gpus_) +
                           static_cast<std::size_t>(packet.destination)];
    INFOLD_DCHECK(hop.count > 0, "every destination can be reached");
    const int channel = first_layer(class_of(packet.kind)) + hop.layer;
    return {ways_[hop.pick(packet.spread)], static_cast<std::uint8_t>(channel)};
  }
  void deliver(const Packet& packet, Link& in) {
    if (packet.destination < gpus_) {
      catch_up(packet.destination);
      return taken_in(packet, in, endpoints_[index_of(packet.destination)]->receive(packet));
    }
    packets_delivered_ += packet.packets;
    units_[unit_index(packet.destination)]->arrive(packet, in);
  }
  bool expect_data(const Packet& packet, Link& in) {
    return packet.destination < gpus_ && endpoints_[index_of(packet.destination)]->expect_data(packet, in);
  }
  void catch_up(NodeId node) {
    if (node < gpus_) endpoints_[index_of(node)]->catch_up();
  }
  void expect(const Packet& packet, Link& in) {
    packets_delivered_ += packet.packets;
    if (packet.destination >= gpus_) {
      units_[unit_index(packet.destination)]->expect(packet, in);
      in.buffer_left(packet.channel, wire(in.type()).of(packet), packet.arrives, events_.now());
    } else {
      endpoints_[index_of(packet.destination)]->expect(packet);
      in.buffer_freed(packet.channel, wire(in.type()).of(packet), packet.arrives, events_.now());
    }
  }
  /// Outputs of a chip decide one after the other, because they compete for its input buffers: the one first
  /// that has sent nothing for the longest time. An input that one of them takes is out of the others' turn,
  /// so all that have something to send decide again until none sends.
  void decide_in_turn(NodeId chip);
  void departed(const Packet& packet) {
    if (class_of(packet.kind) != PacketClass::kControl) endpoints_[index_of(packet.source)]->departed(packet);
  }
  void departed_from_unit(const Packet& packet, NodeId chip, sim::Time end) {
    units_[unit_index(chip)]->departed(packet, end);
  }

 private:
  static std::uint32_t turn_of(std::uint32_t sender) {
    return sender < kSenders ? sender : sender % kSenders;  // divisions are dear
  }
  std::uint8_t first_layer(PacketClass c) const {
    return static_cast<std::uint8_t>(static_cast<int>(c) * layers_);
  }
  std::size_t unit_index(NodeId chip) const { return static_cast<std::size_t>(chip - gpus_); }

  // What every hop touches stands together ...
  sim::EventQueue& events_;
  int gpus_;
  int layers_ = 1;
  std::vector<Link*> ways_;  // by Hop::pick
  const Hop* hops_;          // Routes::table
  const Routes& routes_;
  std::vector<Endpoint*> endpoints_;
  std::uint64_t packets_sent_ = 0;
  std::uint64_t packets_delivered_ = 0;
  std::array<WireCost, kMostLinkTypes> wires_{};
  std::array<std::uint16_t, kPacketKinds> payload_{};
  bool packet_by_packet_;
  bool two_stages_;
  bool hashes_;  // addresses over lanes
  sim::Divisor interleave_block_;
  sim::Divisor lanes_of_first_{1};
  std::vector<std::uint64_t> payload_sent_;
  std::vector<std::uint64_t> payload_received_;
  // ... apart from what few do.
  int nodes_;
  sim::Bytes max_burst_;
  std::vector<int> lanes_;
  InNetwork in_network_;
  // Side by side, so that they spread over the host's caches; none ever moves.
  std::vector<std::optional<Link>> link_store_;
  std::vector<Link*> links_;
  std::vector<std::vector<Link*>> lane_links_;  // by GPU; only where switches have units
  std::vector<std::vector<Link*>> outputs_;     // by chip; only where these compete for input buffers
  std::vector<Link*> deciding_;
  std::vector<SwitchUnit*> units_;          // by switch, likewise
  std::vector<std::uint32_t> unit_inputs_;  // as which input a switch's outputs see its unit
  sim::Bytes block_;                        // of addresses that use the same link
  std::vector<sim::Time> soonest_;          // by node: the least latency of a link into it
};

}  // namespace infold::net
