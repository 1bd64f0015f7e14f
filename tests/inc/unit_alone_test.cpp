// One reduction unit without a network: the test hands it packets and reads off what it sends and when.
#include "support/fake_fabric.h"
#include "world_help.h"

namespace infold::inc {
namespace {

using support::FakeFabric;

/// Four GPUs below one switch, whose unit serves a region of all of them.
class UnitAlone : public testing::Test {
 protected:
  static constexpr net::NodeId kChip = 4;

  UnitAlone() {
    RegionPlan plan;
    plan.members = first_gpus(4);
    plan.bytes = 1_KiB;
    region = units.regions().add(plan).value();
  }
  net::LinkId from(net::NodeId gpu) const { return net::FabricMap::back(map.next(kChip, gpu, 0)); }
  net::Packet packet(net::PacketKind kind, std::uint16_t rank, std::uint16_t payload) const {
    net::Packet p;
    p.set_kind(kind);
    p.set_flow(Tag{region, rank, 1}.flow());
    p.set_payload(payload);
    p.set_source(rank);
    p.set_destination(kChip);
    return p;
  }

  IncSpec spec;
  sim::EventQueue events;
  net::Blueprint blueprint = net::draw(one_switch(), 4).value();
  net::Routes routes = net::Routes::make(blueprint).value();
  net::FabricMap map{blueprint, routes};
  FakeFabric fabric{{.gpus = 4}};
  SwitchUnits units{spec, events, map, fabric, nullptr};
  RegionId region = 0;
};

TEST_F(UnitAlone, AMulticastIsVisibleWhenTheLatestOfItsReceiversHasIt) {
  net::SwitchUnit& unit = fabric.unit(kChip);
  unit.arrive(packet(net::PacketKind::kMulticastWrite, 1, 128), from(1));
  ASSERT_EQ(fabric.from_units.size(), 4u) << "a copy for every member, its sender too";
  for (net::NodeId gpu = 0; gpu < 4; ++gpu) {
    EXPECT_EQ(fabric.from_units[gpu].packet.kind(), net::PacketKind::kMulticastWrite);
    EXPECT_EQ(fabric.from_units[gpu].packet.destination(), gpu);
  }
  // Acknowledgements are known of in another order than they arrive.
  const sim::Time arrives[] = {500_ns, 900_ns, 600_ns, 700_ns};
  for (net::NodeId gpu = 0; gpu < 4; ++gpu) {
    EXPECT_EQ(fabric.from_units.size(), 4u) << "not before all have it";
    net::Packet ack = packet(net::PacketKind::kUnitAck, 1, 0);
    ack.set_source(gpu);
    ack.arrives = arrives[gpu];
    unit.expect(ack, from(gpu));
  }
  ASSERT_EQ(fabric.from_units.size(), 5u);
  const net::Packet& ack = fabric.from_units.back().packet;
  EXPECT_EQ(ack.kind(), net::PacketKind::kUnitAck);
  EXPECT_EQ(ack.destination(), 1);
  EXPECT_EQ(ack.arrives, 900_ns + spec.latency);
}

TEST_F(UnitAlone, AMulticastKeepsItsPlaceUntilTheLastCopyHasLeft) {
  net::SwitchUnit& unit = fabric.unit(kChip);
  unit.arrive(packet(net::PacketKind::kMulticastWrite, 1, 128), from(1));
  ASSERT_EQ(fabric.from_units.size(), 4u);
  for (int copy = 0; copy < 4; ++copy) {
    EXPECT_TRUE(fabric.released.empty());
    unit.departed(fabric.from_units[static_cast<std::size_t>(copy)].packet, 100_ns);
  }
  EXPECT_EQ(fabric.released.size(), 1u);
}

TEST_F(UnitAlone, ASumIsSentWhenTheLastContributionIsAdded) {
  net::SwitchUnit& unit = fabric.unit(kChip);
  for (std::uint16_t rank = 0; rank < 4; ++rank) {
    unit.arrive(packet(net::PacketKind::kReduceWrite, rank, 128), from(rank));
    ASSERT_EQ(fabric.from_units.size(), rank + 1u) << "an acknowledgement for each";
    EXPECT_EQ(fabric.from_units.back().packet.kind(), net::PacketKind::kUnitAck);
    EXPECT_EQ(fabric.from_units.back().packet.destination(), rank);
  }
  events.run();
  ASSERT_EQ(fabric.from_units.size(), 4u + 4);
  for (net::NodeId gpu = 0; gpu < 4; ++gpu) {
    const net::Packet& sum = fabric.from_units[4 + gpu].packet;
    EXPECT_EQ(sum.kind(), net::PacketKind::kResult);
    EXPECT_EQ(sum.destination(), gpu);
    EXPECT_EQ(Tag::of(sum.flow()).count, 4);
    EXPECT_EQ(sum.arrives, events.now() + spec.latency);
  }
  EXPECT_EQ(fabric.released.size(), 4u);
}

}  // namespace
}  // namespace infold::inc
