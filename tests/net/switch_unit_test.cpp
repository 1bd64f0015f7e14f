// What the network does with the packets of a switch's unit: when they leave, and what it tells the unit.
#include "net/switch_unit.h"

#include "traffic_help.h"

namespace infold::net {
namespace {

constexpr NodeId kChip = 2;
constexpr InNetwork kUnits{.units = true, .payload = 64_B, .request = 16_B, .latency = 20_ns};

/// Notes what it is told.
class FakeUnit final : public SwitchUnit {
 public:
  struct Told {
    sim::Time at;
    Packet packet;
  };
  explicit FakeUnit(sim::EventQueue& events) : events_(events) {}
  void arrive(const Packet& packet, LinkId) override { arrived.push_back({events_.now(), packet}); }
  void expect(const Packet& packet, LinkId) override { expected.push_back({packet.arrives, packet}); }
  void departed(const Packet& packet, sim::Time end) override { left.push_back({end, packet}); }

  std::vector<Told> arrived;
  std::vector<Told> expected;
  std::vector<Told> left;

 private:
  sim::EventQueue& events_;
};

/// Two GPUs on one switch with a unit: 40 ps a byte, 100 ns a cable, 50 ns through the switch.
struct UnitScene {
  explicit UnitScene(Cut cut)
      : blueprint(drawn(one_switch(), 2)),
        routes(routes_of(blueprint)),
        network(events, blueprint, routes, one_switch(), cut == Cut::kPackets, kUnits),
        unit(events) {
    for (NodeId gpu = 0; gpu < 2; ++gpu) network.attach(gpu, stations.emplace_back(events));
    network.attach_unit(kChip, unit);
    for (Link* link : network.links()) {
      if (link->from() == kChip && link->to() == 1) out = link;
    }
  }
  /// Of the unit, for GPU 1, there at `at`.
  void unit_sends(PacketKind kind, std::uint32_t flow, sim::Time at, int payload = 0, int packets = 1) {
    Packet p;
    p.set_kind(kind);
    p.set_flow(flow);
    p.set_payload(static_cast<std::uint16_t>(payload));
    p.set_packets(static_cast<std::uint16_t>(packets));
    p.set_destination(1);
    p.arrives = at;
    network.unit_send(p, out->id());
  }
  std::vector<std::uint32_t> order_of_arrival() const {
    std::vector<std::uint32_t> flows;
    for (const Station::Arrival& a : stations[1].arrivals) flows.push_back(a.packet.flow());
    return flows;
  }

  sim::EventQueue events;
  Blueprint blueprint;
  Routes routes;
  Network network;
  FakeUnit unit;
  std::deque<Station> stations;
  Link* out = nullptr;
};

class PacketsOfUnits : public testing::TestWithParam<Cut> {};
INSTANTIATE_TEST_SUITE_P(Cuts, PacketsOfUnits, testing::Values(Cut::kPackets, Cut::kBursts));

TEST_P(PacketsOfUnits, LeaveInOrderOfArrivalNotOfAnnouncement) {
  UnitScene scene(GetParam());
  scene.unit_sends(PacketKind::kUnitAck, 1, 1'000_ns);
  scene.unit_sends(PacketKind::kUnitAck, 2, 300_ns);
  scene.unit_sends(PacketKind::kUnitAck, 3, 20_ns);
  scene.events.run();
  EXPECT_EQ(scene.order_of_arrival(), (std::vector<std::uint32_t>{3, 2, 1}));
  const sim::Time ack = 40_ps * 16;
  EXPECT_EQ(scene.stations[1].arrivals[0].at, 20_ns + ack + 100_ns);
  EXPECT_EQ(scene.stations[1].arrivals[1].at, 300_ns + ack + 100_ns);
  EXPECT_EQ(scene.stations[1].arrivals[2].at, 1'000_ns + ack + 100_ns);
}

TEST_P(PacketsOfUnits, ItIsToldWhenTheyHaveLeft) {
  UnitScene scene(GetParam());
  scene.unit_sends(PacketKind::kResult, 1, 20_ns, 64);
  scene.unit_sends(PacketKind::kResult, 2, 20_ns, 64);
  scene.events.run();
  const sim::Time packet = 40_ps * (64 + 16);
  ASSERT_EQ(scene.unit.left.size(), 2u);
  EXPECT_EQ(scene.unit.left[0].at, 20_ns + packet);
  EXPECT_EQ(scene.unit.left[1].at, 20_ns + packet * 2);
}

TEST_P(PacketsOfUnits, KeepTheirPlaceInTheBufferUntilItReleasesThem) {
  UnitScene scene(GetParam());
  Packet p;
  p.set_kind(PacketKind::kReduceWrite);
  p.set_payload(64);
  scene.network.send_to_unit(p, 0);
  scene.events.run();
  ASSERT_EQ(scene.unit.arrived.size(), 1u);
  EXPECT_EQ(scene.unit.arrived[0].at, 40_ps * (64 + 16) + 150_ns) << "whole, behind the switch's pipeline";
  EXPECT_FALSE(scene.network.quiet());
  for (Link* in : scene.network.links()) {
    if (in->from() == 0) scene.network.release(scene.unit.arrived[0].packet, in->id(), scene.events.now());
  }
  EXPECT_TRUE(scene.network.quiet());
}

TEST(PacketsOfUnits, AWireIsFreeForControlAsSoonAsABurstOfSmallPacketsIsOver) {
  UnitScene scene(Cut::kBursts);
  scene.unit_sends(PacketKind::kResult, 1, 20_ns, 66, 2);  // 98 bytes; a full packet of data has 144
  scene.unit_sends(PacketKind::kUnitAck, 2, 20_ns + 1_ps);
  scene.events.run();
  ASSERT_EQ(scene.unit.left.size(), 2u);
  EXPECT_EQ(scene.unit.left[0].at, 20_ns + 40_ps * 98);
  EXPECT_EQ(scene.unit.left[1].at, 20_ns + 40_ps * (98 + 16));
}

}  // namespace
}  // namespace infold::net
