// Flow control: a full buffer stops the sender, nothing is lost, and every credit comes home.
#include <algorithm>

#include "traffic_help.h"

namespace infold::net {
namespace {

constexpr sim::Bytes kThreePackets{3 * 144 + 100};

FabricSpec with_buffer(sim::Bytes buffer) {
  FabricSpec spec = one_switch();
  spec.switch_chip.buffer = buffer;
  return spec;
}

// The loop of a credit from GPU to switch: over the cable, through the chip, out of its buffer, and back.
constexpr sim::Time kCreditLoop = 100_ns + 50_ns + kPacketTime + 100_ns;

TEST(FlowControl, WithATinyBufferOneBufferfulGoesARoundTrip) {
  Scene scene(with_buffer(kThreePackets), 2);
  for (int i = 0; i < 60; ++i) scene.send(write(0, 1), 0);
  scene.events.run();
  const auto& arrivals = scene[1].arrivals;
  ASSERT_EQ(arrivals.size(), 60u);
  for (std::size_t i = 3; i < arrivals.size(); ++i) {
    ASSERT_EQ(arrivals[i].at - arrivals[i - 3].at, kCreditLoop) << i;
  }
  EXPECT_TRUE(scene.network.quiet());
}

TEST(FlowControl, ABufferOfOneRoundTripAndALotIsEnoughForFullRate) {
  const sim::Bytes loop{(kCreditLoop.count_ps() / kPacketTime.count_ps() + 1) * 144};
  const sim::Bytes with_a_lot = loop + loop / (FreedSpace::kLots - 1) + sim::Bytes{144};
  for (auto [buffer, full_rate] : {std::pair{with_a_lot, true}, std::pair{loop - sim::Bytes{144}, false}}) {
    Scene scene(with_buffer(buffer), 2);
    for (int i = 0; i < 500; ++i) scene.send(write(0, 1), 0);
    scene.events.run();
    ASSERT_EQ(scene[1].arrivals.size(), 500u);
    const bool at_line_rate = scene[1].arrivals.back().at == kPacketTime * 500 + kWay;
    EXPECT_EQ(at_line_rate, full_rate) << buffer.count();
  }
}

TEST(FlowControl, ASlowEndpointHoldsUpItsSender) {
  Scene scene(with_buffer(kThreePackets), 2);
  sim::Time free;
  scene[1].hold = [&](const Packet&) { return free = sim::max(free, scene.events.now()) + 1_us; };
  std::uint64_t most_ahead = 0;
  scene[0].on_departure = [&](const Packet&) {
    most_ahead = std::max(most_ahead, scene[0].departed_bytes / 128 - scene[1].arrivals.size());
  };
  for (int i = 0; i < 100; ++i) scene.send(write(0, 1), 0);
  scene.events.run();
  ASSERT_EQ(scene[1].arrivals.size(), 100u);
  EXPECT_LE(most_ahead, 6u) << "no more than two buffers can hold";
  const sim::Time took = scene[1].arrivals.back().at;
  EXPECT_GE(took, 1_us * 95);
  EXPECT_LE(took, 1_us * 101);
  EXPECT_TRUE(scene.network.quiet());
}

/// When a packet of GPU `from` is at GPU 2, while GPU 0 sends others to GPU 1, which takes each in only after
/// 10 us.
sim::Time arrival_beside_slow_endpoint(int others, NodeId from) {
  Scene scene(with_buffer(kThreePackets), 4);
  scene[1].hold = [&](const Packet&) { return scene.events.now() + 10_us; };
  for (int i = 0; i < others; ++i) scene.send(write(0, 1), 0);
  scene.send(write(from, 2), 0);
  scene.events.run();
  EXPECT_EQ(scene[2].arrivals.size(), 1u);
  return scene[2].arrivals.at(0).at;
}

TEST(FlowControl, WhatWaitsForASlowEndpointHoldsUpOthersBehindIt) {
  EXPECT_GT(arrival_beside_slow_endpoint(12, 0), 10_us) << "one queue a sender: congestion spreads";
}

TEST(FlowControl, OtherInputsAreNotHeldUp) {
  EXPECT_EQ(arrival_beside_slow_endpoint(50, 3), kPacketTime + kWay);
}

TEST(FlowControl, APacketThatFillsTheBufferPasses) {
  Scene scene(with_buffer(sim::Bytes{512}), 2, Cut::kBursts);
  for (int i = 0; i < 5; ++i) scene.send(write(0, 1, 128), 0);
  scene.events.run();
  EXPECT_EQ(scene[1].arrivals.size(), 5u);
  EXPECT_TRUE(scene.network.quiet());
}

TEST(Quiet, OnlyWhenEverythingIsDelivered) {
  Scene scene(one_switch(), 2);
  EXPECT_TRUE(scene.network.quiet());
  for (int i = 0; i < 20; ++i) scene.send(write(0, 1), 0);
  EXPECT_FALSE(scene.network.quiet());
  while (scene[1].arrivals.size() < 20) {
    EXPECT_FALSE(scene.network.quiet()) << scene[1].arrivals.size();
    ASSERT_TRUE(scene.events.run(1) || scene[1].arrivals.size() == 20);
  }
  scene.events.run();
  EXPECT_TRUE(scene.network.quiet());
  for (const auto& link : scene.network.links()) {
    EXPECT_TRUE(link->idle());
    EXPECT_TRUE(link->all_credits_home());
  }
}

TEST(Quiet, NamesTheLinkThatIsStuck) {
  FabricSpec spec = with_buffer(kThreePackets);
  Scene scene(spec, 2);
  scene[1].hold = [&](const Packet&) { return scene.events.now() + 1_us; };
  for (int i = 0; i < 20; ++i) scene.send(write(0, 1), 0);
  std::vector<std::string> waiting;
  scene.at(700_ns, [&] { waiting = scene.network.who_waits(); });
  scene.events.run();
  EXPECT_THAT(waiting, testing::Contains(testing::HasSubstr("gpu0->switch0")));
  EXPECT_THAT(waiting, testing::Contains(testing::HasSubstr("switch0->gpu1")));
  EXPECT_TRUE(scene.network.who_waits().empty()) << "nobody waits in the end";
}

// 64 packets for each of two GPUs fill those, 64 more wait in the buffer of the link from GPU 0. When both
// GPUs take their packets, how fast that buffer empties depends on how many outputs it can feed at once.
sim::Time last_arrival_with(int speedup) {
  FabricSpec spec = with_buffer(sim::Bytes{64 * 144});
  spec.switch_chip.speedup = speedup;
  Scene scene(spec, 3);
  const sim::Time release = 100_us;
  for (int gpu : {1, 2}) {
    scene[gpu].hold = [&](const Packet&) { return sim::max(scene.events.now(), release); };
  }
  for (int i = 0; i < 96; ++i) {
    for (int gpu : {1, 2}) scene.send(write(0, gpu), 0);
  }
  scene.events.run();
  EXPECT_EQ(scene[1].arrivals.size() + scene[2].arrivals.size(), 192u);
  if (scene[1].arrivals.empty() || scene[2].arrivals.empty()) return {};
  return sim::max(scene[1].arrivals.back().at, scene[2].arrivals.back().at) - release;
}

TEST(Speedup, OneFeedsOneOutputAtATime) {
  EXPECT_EQ(last_arrival_with(1), 100_ns + kPacketTime * 64 + 100_ns);
}

TEST(Speedup, TwoFeedsBoth) {
  EXPECT_EQ(last_arrival_with(2), 100_ns + kPacketTime * 32 + 100_ns);
}

}  // namespace
}  // namespace infold::net
