// How long packets take over an idle fabric, and what they leave in a link's counters.
#include "traffic_help.h"

namespace infold::net {
namespace {

TEST(LinkTiming, APacketNeedsItsBytesOnceAndEveryLatency) {
  Scene scene(one_switch(), 2);
  scene.send(write(0, 1), 0);
  scene.events.run();
  ASSERT_EQ(scene[1].arrivals.size(), 1u);
  EXPECT_EQ(scene[1].arrivals[0].at, kPacketTime + kWay);
}

TEST(LinkTiming, TheSwitchPassesOnTheHeadBeforeTheTailIsIn) {
  FabricSpec spec = one_switch();
  spec.packet.payload = 4_KiB;
  Scene scene(spec, 2);
  scene.send(write(0, 1, 4'096), 0);
  scene.events.run();
  EXPECT_EQ(scene[1].arrivals[0].at, 40_ps * 4'112 + kWay) << "store and forward would pay the bytes twice";
}

/// When a packet of GPU 0 is at GPU `to`, in a fabric of GPUs that are joined to each other.
sim::Time arrival(Topology topology, int gpus, int to) {
  FabricSpec spec = one_switch();
  spec.topology = topology;
  Scene scene(spec, gpus);
  scene.send(write(0, to), 0);
  scene.events.run();
  return scene[to].arrivals.at(0).at;
}

TEST(LinkTiming, NeighboursWithoutASwitchNeedOneLatency) {
  EXPECT_EQ(arrival(Topology::kFullMesh, 3, 2), kPacketTime + 100_ns);
}

TEST(LinkTiming, EachHopOfARingAddsALatencyAndNoSwitch) {
  EXPECT_EQ(arrival(Topology::kRing, 8, 3), kPacketTime + 100_ns * 3);
}

TEST(LinkTiming, LeavesOnceTheWholePacketMayGoAndTellsItsSender) {
  Scene scene(one_switch(), 2);
  std::vector<sim::Time> departures;
  scene[0].on_departure = [&](const Packet&) { departures.push_back(scene.events.now()); };
  scene.send(write(0, 1), 0);
  scene.send(write(0, 1), 0);
  scene.events.run();
  EXPECT_EQ(departures, (std::vector<sim::Time>{0_ps, kPacketTime}));
}

TEST(LinkTiming, ControlPacketsDepartUnannounced) {
  Scene scene(one_switch(), 2);
  bool told = false;
  scene[0].on_departure = [&](const Packet&) { told = true; };
  scene.send(signal(0, 1), 0);
  scene.events.run();
  EXPECT_FALSE(told);
}

class BackToBack : public testing::TestWithParam<Cut> {};
INSTANTIATE_TEST_SUITE_P(Cuts, BackToBack, testing::Values(Cut::kPackets, Cut::kBursts));

TEST_P(BackToBack, PacketsArriveAtLineRate) {
  Scene scene(one_switch(), 2, GetParam());
  for (int i = 0; i < 200; ++i) scene.send(write(0, 1), 0);
  scene.events.run();
  ASSERT_EQ(scene[1].arrivals.size(), 200u);
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(scene[1].arrivals[static_cast<std::size_t>(i)].at, kPacketTime * (i + 1) + kWay) << i;
  }
}

TEST_P(BackToBack, WhatIsSentAsOneTakesTheBytesOfAllItsPackets) {
  Scene scene(one_switch(), 2, GetParam());
  for (int i = 0; i < 10; ++i) scene.send(write(0, 1, 1'000, 8), 0);  // seven of 128 and one of 104
  scene.events.run();
  EXPECT_EQ(scene[1].arrivals.back().at, 40_ps * (10 * (1'000 + 8 * 16)) + kWay);
  EXPECT_EQ(scene[1].payload(), 10'000u);
  EXPECT_EQ(scene.link(0, 2).traffic().wire_bytes, 10u * (1'000 + 8 * 16));
  EXPECT_EQ(scene.link(2, 1).traffic().packets, 80u);
}

TEST(LinkTiming, PacketByPacketATrainArrivesInPiecesAndABurstAsOne) {
  for (Cut cut : {Cut::kPackets, Cut::kBursts}) {
    Scene scene(one_switch(), 2, cut);
    scene.send(write(0, 1, 300, 3), 0);
    scene.events.run();
    std::vector<int> pieces;
    std::vector<std::uint32_t> offsets;
    for (const auto& a : scene[1].arrivals) {
      pieces.push_back(a.packet.payload());
      offsets.push_back(a.packet.offset());
    }
    if (cut == Cut::kPackets) {
      EXPECT_EQ(pieces, (std::vector<int>{128, 128, 44}));
      EXPECT_EQ(offsets, (std::vector<std::uint32_t>{0, 128, 256}));
    } else {
      EXPECT_EQ(pieces, (std::vector<int>{300}));
    }
  }
}

TEST(LinkCounters, CountHeadersAcknowledgementsAndFlags) {
  FabricSpec spec = one_switch();
  spec.packet.header = 20_B;
  spec.packet.ack = 12_B;
  Scene scene(spec, 2);
  scene.acknowledge_writes();
  for (int i = 0; i < 5; ++i) scene.send(write(0, 1, 100), 0);
  scene.send(signal(0, 1), 0);
  scene.events.run();
  const Link::Traffic there = scene.link(0, 2).traffic();
  const Link::Traffic back = scene.link(1, 2).traffic();
  EXPECT_EQ(there.wire_bytes, 5u * 120 + 28);
  EXPECT_EQ(there.packets, 6u);
  EXPECT_EQ(back.wire_bytes, 5u * 12);
  EXPECT_EQ(back.packets, 5u);
  EXPECT_EQ(scene.link(2, 1).traffic().wire_bytes, there.wire_bytes) << "every hop carries the same";
}

TEST(LinkCounters, TheNetworkCountsDataAndPackets) {
  Scene scene(one_switch(), 2);
  scene.acknowledge_writes();
  scene.send(write(0, 1, 256, 2), 0);
  scene.send(signal(0, 1), 0);
  scene.events.run();
  EXPECT_EQ(scene.network.payload_sent(0), 256u) << "data, not flags";
  EXPECT_EQ(scene.network.payload_received(1), 256u);
  EXPECT_EQ(scene.network.packets_sent(), 2u + 2 + 1);
  EXPECT_EQ(scene.network.packets_delivered(), 5u);
  EXPECT_EQ(scene.network.packet_hops(), 10u);
}

TEST(LinkCounters, SayWhatCrossedALinkAndWhatIsOnIt) {
  Scene scene(one_switch(), 2);
  const LinkId out = scene.link(0, 2).id();
  scene.send(write(0, 1, 100), 0);
  scene.at(50_ns, [&] { EXPECT_EQ(scene.network.counters(out).in_flight, 116_B); });
  scene.events.run();
  const LinkCounters counters = scene.network.counters(out);
  EXPECT_EQ(counters.wire_bytes, 116u);
  EXPECT_EQ(counters.packets, 1u);
  EXPECT_EQ(counters.replays, 0u);
  EXPECT_EQ(counters.in_flight, 0_B);
  EXPECT_EQ(scene.network.counters(FabricMap::back(out)).packets, 0u);
}

}  // namespace
}  // namespace infold::net
