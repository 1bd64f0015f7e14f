// A fabric that a test plays by hand: it notes what is sent and lets nothing happen by itself. The test says
// when a packet leaves, arrives or is acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
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

class FakeFabric final : public net::Fabric {
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
  FakePort port;

  /// Payload of everything sent so far.
  std::uint64_t payload() const {
    std::uint64_t sum = 0;
    for (const Sent& s : sent) sum += s.packet.payload;
    return sum;
  }
  /// The packets of one kind, in the order in which they were sent.
  std::vector<net::Packet> sent_as(net::PacketKind kind) const {
    std::vector<net::Packet> out;
    for (const Sent& s : sent) {
      if (s.packet.kind == kind) out.push_back(s.packet);
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
    EXPECT_LE(packet.payload, traits().max_burst.count());
    sent.push_back({packet, sender, Way::kDirect});
  }
  void send_ack(const net::Packet& packet) override { sent.push_back({packet, kAcks, Way::kAck}); }
  void send_to_unit(net::Packet packet, std::uint32_t sender) override {
    sent.push_back({packet, sender, Way::kToUnit});
  }
  net::SwitchFabric& switches() override {
    ADD_FAILURE() << "the fake fabric has no switches";
    std::abort();
  }
  bool quiet() const override { return true; }
  std::vector<std::string> who_waits() const override { return {}; }
  net::LinkCounters counters(net::LinkId) const override { return {}; }
  std::uint64_t packets_sent() const override { return sent.size(); }
  std::uint64_t packets_delivered() const override { return 0; }
  std::uint64_t packet_hops() const override { return 0; }
  std::uint64_t payload_sent(net::NodeId) const override { return payload(); }
  std::uint64_t payload_received(net::NodeId) const override { return 0; }

 private:
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
};

}  // namespace infold::support
