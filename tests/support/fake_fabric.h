// A fabric that a test plays by hand: it notes what endpoints and units of switches send, and lets nothing
// happen by itself. The test says when a packet leaves, arrives or is acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "net/fabric.h"

namespace infold::support {

/// A port that keeps nothing, unless the test tells it when something is due and what happens then.
class FakePort final : public net::Port {
 public:
  void keep_until(sim::Time due) { set_due(due); }
  int asked = 0;  ///< how often something was due when the endpoint looked

 private:
  void hand_over(sim::Time) override {
    ++asked;
    set_due(sim::Time::never());
  }
};

class FakeFabric final : public net::Fabric, public net::SwitchFabric {
 public:
  enum class Way { kDirect, kAck, kToUnit };
  struct Sent {
    net::Packet packet;
    std::uint32_t sender = 0;
    Way way = Way::kDirect;
  };
  struct Shape {
    int gpus = 2;
    int lanes = 1;
    bool packet_by_packet = true;
    sim::Bytes payload{128};
    sim::Bytes max_burst{1'024};
    sim::Bytes block{4'096};
  };
  FakeFabric() : FakeFabric(Shape{}) {}
  explicit FakeFabric(const Shape& shape)
      : Fabric(traits_of(shape)), endpoints_(static_cast<std::size_t>(shape.gpus)) {}

  std::vector<Sent> sent;
  std::function<void(const net::Packet&)> on_send;  ///< told of everything that endpoints send
  FakePort port;

  /// Payload of everything sent so far.
  std::uint64_t payload() const {
    std::uint64_t sum = 0;
    for (const Sent& s : sent) sum += s.packet.payload();
    return sum;
  }
  /// The packets of one kind, in the order in which they were sent.
  std::vector<net::Packet> sent_as(net::PacketKind kind) const {
    std::vector<net::Packet> out;
    for (const Sent& s : sent) {
      if (s.packet.kind() == kind) out.push_back(s.packet);
    }
    return out;
  }
  net::Endpoint& endpoint(net::NodeId gpu) { return *endpoints_[net::index_of(gpu)]; }

  // Fabric
  net::Port& attach(net::NodeId gpu, net::Endpoint& endpoint) override {
    endpoints_[net::index_of(gpu)] = &endpoint;
    return port;
  }
  void send(const net::Packet& packet, std::uint32_t sender) override {
    EXPECT_LE(packet.payload(), traits().max_burst.count());
    note({packet, sender, Way::kDirect});
  }
  void send_ack(const net::Packet& packet) override { note({packet, kAcks, Way::kAck}); }
  void send_to_unit(net::Packet packet, std::uint32_t sender) override {
    note({packet, sender, Way::kToUnit});
  }
  net::SwitchFabric& switches() override { return *this; }
  bool quiet() const override { return true; }
  void start_anew() override {}
  std::vector<std::string> who_waits() const override { return {}; }
  net::LinkCounters counters(net::LinkId) const override { return {}; }
  std::uint64_t packets_sent() const override { return sent.size(); }
  std::uint64_t packets_delivered() const override { return 0; }
  std::uint64_t packet_hops() const override { return 0; }
  std::uint64_t payload_sent(net::NodeId) const override { return payload(); }
  std::uint64_t payload_received(net::NodeId) const override { return 0; }

  // SwitchFabric
  struct FromUnit {
    net::Packet packet;
    net::LinkId out = net::kNoLink;  ///< kNoLink: routed
  };
  std::vector<FromUnit> from_units;
  std::vector<net::Packet> released;  ///< whose places in input buffers were given back
  net::SwitchUnit& unit(net::NodeId chip) { return *units_.at(chip); }

  void attach_unit(net::NodeId chip, net::SwitchUnit& unit) override { units_[chip] = &unit; }
  void unit_send(const net::Packet& packet, net::LinkId out) override { from_units.push_back({packet, out}); }
  void unit_send_routed(const net::Packet& packet, net::NodeId) override {
    from_units.push_back({packet, net::kNoLink});
  }
  void release(const net::Packet& packet, net::LinkId, sim::Time) override { released.push_back(packet); }

 private:
  void note(const Sent& s) {
    sent.push_back(s);
    if (on_send) on_send(s.packet);
  }
  static net::FabricTraits traits_of(const Shape& shape) {
    net::FabricSpec spec;
    spec.interleave_block = shape.block;
    return {.gpus = shape.gpus,
            .packet_by_packet = shape.packet_by_packet,
            .packet_payload = shape.payload,
            .max_burst = shape.max_burst,
            .interleaving = {spec, shape.lanes, false}};
  }
  std::vector<net::Endpoint*> endpoints_;
  std::map<net::NodeId, net::SwitchUnit*> units_;
};

}  // namespace infold::support
