// The fabric that simulates packets: nodes joined by links, packets in flight, endpoints at the GPUs.
//
// Conservation: every packet sent is delivered exactly once, and when nothing is in flight every credit
// is home. Both can be asked for (`quiet()`), and are asserted by the tests and by debug builds.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/fabric.h"
#include "net/packet/link.h"
#include "net/packet/packet_port.h"
#include "net/switch_unit.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/check.h"
#include "sim/event_queue.h"

namespace infold::net {

class alignas(64) Network final : public Fabric, public SwitchFabric {
 public:
  /// See make_packet_fabric.
  Network(sim::EventQueue& events, const Blueprint& blueprint, const Routes& routes, const FabricSpec& spec,
          bool packet_by_packet, const InNetwork& in_network = {});
  ~Network() override;

  /// Makes the links of GPUs choose what goes behind a control packet when the wire is free for it, and not
  /// together with that packet (docs/network.md). That takes more events and gives exact times.
  void choose_when_free();

  // Fabric
  Port& attach(NodeId gpu, Endpoint& endpoint) override;
  void send(const Packet& packet, std::uint32_t sender) override {
    INFOLD_DCHECK(packet.arrives == events_.now(), "a packet is sent when it is there");
    INFOLD_DCHECK(packet.source() != packet.destination(), "a packet goes to another node");
    INFOLD_DCHECK(packet.payload() <= traits().max_burst.count(), "a burst fits a quarter of a buffer");
    packets_sent_ += packet.packets();
    if (packet.kind() == PacketKind::kWrite) payload_sent_[index_of(packet.source())] += packet.payload();
    const Way way = way_out(packet, packet.source());
    if (is_control(packet.kind())) {
      way.link->accept_control(packet, way.channel, turn_of(sender));
    } else {
      way.link->accept(packet, way.channel, turn_of(sender));
    }
  }

  void send_ack(const Packet& packet) override {
    INFOLD_DCHECK(is_control(packet.kind()), "acknowledgements are control packets");
    packets_sent_ += packet.packets();
    const Way way = way_out(packet, packet.source());
    if (packet.arrives > events_.now()) {
      way.link->accept_ahead(packet, way.channel, kAcks);
    } else {
      way.link->accept_control(packet, way.channel, kAcks);
    }
  }

  void send_to_unit(Packet packet, std::uint32_t sender) override {
    packets_sent_ += packet.packets();
    if (const PacketClass c = class_of(packet.kind());
        c == PacketClass::kContribution || c == PacketClass::kData)
      payload_sent_[index_of(packet.source())] += packet.payload();
    Link& lane = lane_of(packet.source(), packet.spread());
    packet.arrives = events_.now();
    packet.set_destination(lane.to());
    lane.accept(packet, first_channel_[static_cast<std::size_t>(packet.kind())], turn_of(sender));
  }
  SwitchFabric& switches() override { return *this; }
  bool quiet() const override;
  void start_anew() override;
  std::vector<std::string> who_waits() const override;
  LinkCounters counters(LinkId link) const override;
  std::uint64_t packets_sent() const override { return packets_sent_; }
  std::uint64_t packets_delivered() const override { return packets_delivered_; }
  std::uint64_t packet_hops() const override;
  std::uint64_t payload_sent(NodeId gpu) const override { return payload_sent_[index_of(gpu)]; }
  std::uint64_t payload_received(NodeId gpu) const override {
    return ports_[index_of(gpu)]->payload_received();
  }

  // SwitchFabric
  void attach_unit(NodeId chip, SwitchUnit& unit) override { units_[unit_index(chip)] = &unit; }
  void unit_send(const Packet& packet, LinkId out) override {
    packets_sent_ += packet.packets();
    const UnitOutput& output = unit_outputs_[out];
    output.link->accept_ahead(packet, first_channel_[static_cast<std::size_t>(packet.kind())], output.input);
  }
  void unit_send_routed(const Packet& packet, NodeId at) override {
    packets_sent_ += packet.packets();
    const Way way = way_on(packet, at);
    way.link->accept_ahead(packet, way.channel, unit_inputs_[unit_index(at)]);
  }
  void release(const Packet& packet, LinkId in, sim::Time at) override {
    Link& link = *links_[in];
    link.buffer_left(packet.channel(), wire(link.type()).of(packet), at);
  }

  /// For the tests.
  const std::vector<Link*>& links() const { return links_; }
  const PacketPort& port(NodeId gpu) const { return *ports_[index_of(gpu)]; }

  /// Ports call this when that many packets more are in the memory of a GPU.
  void count_delivered(std::uint64_t packets) { packets_delivered_ += packets; }

  // For the links.
  sim::EventQueue& events() { return events_; }
  int gpus() const { return gpus_; }
  bool packet_by_packet() const { return packet_by_packet_; }
  std::uint16_t payload_of(PacketKind kind) const { return payload_[static_cast<std::size_t>(kind)]; }
  /// What packets cost on links of this type.
  const WireCost& wire(LinkTypeId type) const { return wires_[type]; }
  /// The way of a packet out of a chip that it passes, which is not its destination.
  Way way_on(const Packet& packet, NodeId at) const {
    const TwinPlace& to = stands_[index_of(packet.destination())].place;
    return way(packet, stands_[index_of(at)].row[to.group], to);
  }
  /// The way of a packet out of the GPU that sends it.
  Way way_out(const Packet& packet, NodeId gpu) const {
    const Stand& from = stands_[index_of(gpu)];
    return way(packet, from.row[stands_[index_of(packet.destination())].place.group], from.place);
  }
  void deliver(const Packet& packet, Link& in) {
    if (packet.destination() < gpus_) {
      PacketPort& port = *ports_[index_of(packet.destination())];
      port.catch_up(events_.now());
      return port.receive(packet, in);
    }
    packets_delivered_ += packet.packets();
    units_[unit_index(packet.destination())]->arrive(packet, in.id());
  }
  void catch_up(NodeId node) {
    if (node < gpus_) ports_[index_of(node)]->catch_up(events_.now());
  }
  void expect(const Packet& packet, NodeId gpu) {
    packets_delivered_ += packet.packets();
    endpoints_[index_of(gpu)]->expect(packet);
  }
  void expect_at_unit(const Packet& packet, NodeId chip, LinkId in) {
    packets_delivered_ += packet.packets();
    units_[unit_index(chip)]->expect(packet, in);
  }
  /// Makes the outputs of a chip decide one after the other, because they compete for its input buffers. The
  /// one that has sent nothing for the longest time is first. An input that one of them takes is not there
  /// for the others, so all that have something to send decide again until none sends.
  void decide_in_turn(NodeId chip);
  void departed(const Packet& packet, NodeId gpu) { endpoints_[index_of(gpu)]->departed(packet); }
  void departed_from_unit(const Packet& packet, NodeId chip, sim::Time end) {
    units_[unit_index(chip)]->departed(packet, end);
  }

 private:
  /// Where a node stands in the routing tables: its row, and where its column is.
  struct Stand {
    const Hop* row;
    TwinPlace place;
  };
  /// A link out of a switch, and as which of its inputs it sees the switch's unit.
  struct UnitOutput {
    Link* link;
    std::uint32_t input;
  };
  static std::uint32_t turn_of(std::uint32_t sender) {
    return sender < kSenders ? sender : sender % kSenders;  // divisions are dear
  }
  Way way(const Packet& packet, const Hop& hop, const TwinPlace& twin) const {
    INFOLD_DCHECK(hop.count > 0, "every destination can be reached");
    return {ways_[RouteTable::first(hop, twin) + hop.pick(packet.spread())],
            static_cast<std::uint8_t>(first_channel_[static_cast<std::size_t>(packet.kind())] + hop.layer)};
  }
  /// The link that a packet with this spread value leaves a GPU by.
  Link& lane_of(NodeId gpu, std::uint16_t spread) const {
    const std::vector<Link*>& lanes = lane_links_[index_of(gpu)];
    return *lanes[spread < lanes.size() ? spread : spread % lanes.size()];
  }
  std::size_t unit_index(NodeId chip) const { return static_cast<std::size_t>(chip - gpus_); }

  // What every hop touches stands together ...
  sim::EventQueue& events_;
  int gpus_;
  int layers_ = 1;
  std::array<std::uint8_t, kPacketKinds> first_channel_{};  // by kind: the channel of its class in layer 0
  std::vector<Link*> ways_;                                 // as RouteTable::first counts
  std::vector<Stand> stands_;                               // by node
  std::vector<Endpoint*> endpoints_;
  std::vector<std::unique_ptr<PacketPort>> ports_;  // by GPU
  std::uint64_t packets_sent_ = 0;
  std::uint64_t packets_delivered_ = 0;
  std::array<WireCost, kMostLinkTypes> wires_{};
  std::array<std::uint16_t, kPacketKinds> payload_{};
  bool packet_by_packet_;
  std::vector<std::uint64_t> payload_sent_;
  // ... apart from what few do.
  // Side by side, so that they spread over the host's caches; none ever moves.
  std::vector<std::optional<Link>> link_store_;
  std::vector<Link*> links_;
  std::vector<std::vector<Link*>> lane_links_;  // by GPU; only where switches have units
  std::vector<std::vector<Link*>> outputs_;     // by chip; only where these compete for input buffers
  std::vector<Link*> deciding_;
  std::vector<SwitchUnit*> units_;          // by switch, likewise
  std::vector<std::uint32_t> unit_inputs_;  // by switch: the input as which its outputs see its unit
  std::vector<UnitOutput> unit_outputs_;    // by link; only where switches have units
};

}  // namespace infold::net
