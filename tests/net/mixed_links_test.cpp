// Fabrics drawn by hand whose cables and chips differ: each link has its own rate, latency and header, each
// chip its own latency. Times are computed by hand.
#include <gmock/gmock.h>

#include "traffic_help.h"

namespace infold::net {
namespace {

using testing::HasSubstr;

constexpr LinkTypeId kSlowType = 0;  // 40 ps a byte, 100 ns
constexpr LinkTypeId kFastType = 1;  // 20 ps a byte, 30 ns

Blueprint two_kinds_of_links(int gpus, int switches) {
  Blueprint b = chips(gpus, switches);
  b.link_types = {
      {.kind = LinkKind::kPcie, .rate = 25_GBps, .latency = 100_ns, .error_distance = {}, .packet = {}},
      {.kind = LinkKind::kNvLink, .rate = 50_GBps, .latency = 30_ns, .error_distance = {}, .packet = {}}};
  b.chip_types[0].latency = 50_ns;
  return b;
}

/// gpu0 by the slow cable, gpu1 by the fast one.
Blueprint slow_and_fast() {
  Blueprint b = two_kinds_of_links(2, 1);
  join(b, 0, 2, 1, kSlowType);
  join(b, 1, 2, 1, kFastType);
  return b;
}

/// When a packet of GPU 0 is at GPU 1.
sim::Time arrival(const Blueprint& b) {
  Scene scene(b, {});
  scene.send(write(0, 1), 0);
  scene.events.run();
  EXPECT_TRUE(scene.network.quiet());
  return scene[1].arrivals.at(0).at;
}

TEST(MixedLinks, APacketPaysEachLatencyAndTheSlowerRateOnce) {
  for (const bool upwards : {false, true}) {
    Scene scene(slow_and_fast(), {});
    scene.send(write(upwards ? 1 : 0, upwards ? 0 : 1), 0);
    scene.events.run();
    EXPECT_EQ(scene[upwards ? 0 : 1].arrivals.at(0).at, 100_ns + 50_ns + 30_ns + 5'760_ps)
        << "the tail leaves the fast link no sooner than it came over the slow one";
    EXPECT_TRUE(scene.network.quiet());
  }
}

class MixedBackToBack : public testing::TestWithParam<Cut> {};
INSTANTIATE_TEST_SUITE_P(Cuts, MixedBackToBack, testing::Values(Cut::kPackets, Cut::kBursts));

TEST_P(MixedBackToBack, TheSlowerLinkSetsThePace) {
  for (const bool upwards : {false, true}) {
    Scene scene(slow_and_fast(), {}, GetParam());
    for (int i = 0; i < 100; ++i) scene.send(write(upwards ? 1 : 0, upwards ? 0 : 1), 0);
    scene.events.run();
    const auto& arrivals = scene[upwards ? 0 : 1].arrivals;
    ASSERT_EQ(arrivals.size(), 100u);
    for (int i = 0; i < 100; ++i)
      ASSERT_EQ(arrivals[static_cast<std::size_t>(i)].at, 180_ns + 5'760_ps * (i + 1)) << upwards << i;
    EXPECT_TRUE(scene.network.quiet());
  }
}

TEST_P(MixedBackToBack, EachLinkCountsItsOwnHeaders) {
  Blueprint b = slow_and_fast();
  b.link_types[kFastType].packet.header = 48_B;
  for (ChipType& chip : b.chip_types) chip.buffer = 512_B;  // two packets: credits go back and forth
  Scene scene(b, {}, GetParam());
  for (int i = 0; i < 50; ++i) {
    scene.send(write(0, 1), 0);
    scene.send(write(1, 0), 0);
  }
  scene.events.run();
  EXPECT_EQ(scene.link(0, 2).traffic().wire_bytes, 50u * (128 + 16));
  EXPECT_EQ(scene.link(2, 1).traffic().wire_bytes, 50u * (128 + 48));
  EXPECT_EQ(scene.link(1, 2).traffic().wire_bytes, 50u * (128 + 48));
  EXPECT_EQ(scene.link(2, 0).traffic().wire_bytes, 50u * (128 + 16));
  EXPECT_TRUE(scene.network.quiet()) << "every buffer got back what its own link spent";
}

TEST(MixedLinks, AWholeLargerHeaderIsPaidOnTheLinkThatHasIt) {
  Blueprint b = slow_and_fast();
  b.link_types[kFastType].packet.header = 432_B - 128_B;  // 8.64 ns on the fast link
  EXPECT_EQ(arrival(b), 100_ns + 50_ns + 8'640_ps + 30_ns);
}

TEST(MixedLinks, ASwitchLooksAheadNoFurtherThanItsFastestInput) {
  Blueprint b = two_kinds_of_links(3, 1);
  b.link_types.push_back(b.link_types[kSlowType]);
  b.link_types[2].latency = 500_ns;
  join(b, 0, 3, 1, kFastType);
  join(b, 1, 3, 1, 2);
  join(b, 2, 3, 1, kSlowType);
  Scene scene(b, {});
  scene.send(write(1, 2), 0);                             // at the switch's output at 550 ns
  scene.send(write(0, 2), 0);                             // wakes that output at 80 ns, which knows of both
  scene.at(460_ns, [&] { scene.send(write(0, 2), 0); });  // there at 540 ns, before the first one sent
  scene.events.run();
  ASSERT_EQ(scene[2].arrivals.size(), 3u);
  EXPECT_EQ(scene[2].arrivals[0].at, 80_ns + 5'760_ps + 100_ns);
  EXPECT_EQ(scene[2].arrivals[1].at, 540_ns + 5'760_ps + 100_ns);
  EXPECT_EQ(scene[2].arrivals[1].packet.source(), 0);
  EXPECT_EQ(scene[2].arrivals[2].at, 550_ns + 5'760_ps + 100_ns);
}

TEST(MixedLinks, EachChipHasItsOwnLatency) {
  Blueprint b = two_kinds_of_links(2, 2);
  b.chip_types.push_back(b.chip_types[0]);
  b.chip_types[2].latency = 200_ns;
  b.chip[3] = 2;
  b.roles[3] = NodeRole::kNic;
  join(b, 0, 2, 1, kFastType);
  join(b, 2, 3, 1, kFastType);
  join(b, 3, 1, 1, kSlowType);
  EXPECT_EQ(arrival(b), 30_ns + 50_ns + 30_ns + 200_ns + 100_ns + 5'760_ps);
}

TEST(MixedLinks, BehindASlowLinkThePaceStaysSlowOnEveryFastOne) {
  Blueprint b = two_kinds_of_links(2, 3);
  join(b, 0, 2, 1, kSlowType);
  join(b, 2, 3, 1, kFastType);
  join(b, 3, 4, 1, kFastType);
  join(b, 4, 1, 1, kFastType);
  EXPECT_EQ(arrival(b), 100_ns + 30_ns * 3 + 50_ns * 3 + 5'760_ps)
      << "the tail enters every link when it has come, not when the link before could have sent it";
}

TEST(MixedLinks, ASlowInputOfANonBlockingChipFeedsAllOutputsAtOnce) {
  // Three slow bursts arrive one behind the other for three fast outputs: none waits for another.
  Blueprint b = two_kinds_of_links(4, 1);
  join(b, 0, 4, 1, kSlowType);
  for (int gpu = 1; gpu < 4; ++gpu) join(b, gpu, 4, 1, kFastType);
  Scene scene(b, {});
  for (int gpu = 1; gpu < 4; ++gpu) scene.send(write(0, gpu), 0);
  scene.events.run();
  for (int gpu = 1; gpu < 4; ++gpu) EXPECT_EQ(scene[gpu].arrivals.at(0).at, 180_ns + 5'760_ps * gpu) << gpu;
}

TEST(MixedLinks, BurstsFitTheSmallestBuffer) {
  Blueprint b = slow_and_fast();
  b.chip_types[1].buffer = 144_B * 40;
  Scene scene(b, {});
  EXPECT_EQ(scene.network.traits().max_burst, 128_B * 10);
  b.link_types[kFastType].packet.header = 160_B;
  Scene larger_header(b, {});
  EXPECT_EQ(larger_header.network.traits().max_burst, 128_B * 5);
}

TEST(CheckLinks, AcceptsLinksThatDifferInAllButPayload) {
  Blueprint b = slow_and_fast();
  b.link_types[kFastType].packet = {.payload = 128_B, .header = 40_B, .ack = 8_B};
  EXPECT_TRUE(check_links(b));
}

TEST(CheckLinks, RefusesPacketsThatALinkWouldHaveToCutAgain) {
  Blueprint b = slow_and_fast();
  b.link_types[kFastType].packet.payload = 256_B;
  const auto checked = check_links(b);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().parameter, "fabric.packet.payload");
  EXPECT_THAT(checked.error().message,
              HasSubstr("packets of 128 bytes would meet links that take packets of 256"));
}

TEST(CheckLinks, RefusesPacketsThatDoNotFitTheSmallestBuffer) {
  Blueprint b = slow_and_fast();
  b.link_types[kFastType].packet.header = 250_B;
  b.chip_types[1].buffer = 377_B;
  EXPECT_EQ(check_links(b).error().message, "a packet of 378 bytes does not fit a buffer of 377");
}

TEST(CheckLinks, RefusesTypesThatDoNotExist) {
  Blueprint b = slow_and_fast();
  b.cables[1].type = 2;
  EXPECT_EQ(check_links(b).error().message, "there is no type 2 of links");
  b.link_types.resize(kMostLinkTypes + 1);
  EXPECT_THAT(check_links(b).error().message, HasSubstr("1 to 8 types of links, not 9"));
}

TEST(Roles, GpusComeFirstAndTheOthersAreSwitches) {
  FabricSpec spec;
  spec.topology = Topology::kPcieTree;
  spec.groups = 2;
  const Blueprint b = drawn(spec, 4);
  for (NodeId node = 0; node < b.nodes(); ++node)
    EXPECT_EQ(b.role(node), node < 4 ? NodeRole::kGpu : NodeRole::kSwitch) << node;
  EXPECT_EQ(b.type_of(b.cables[0]).kind, LinkKind::kPcie);
}

}  // namespace
}  // namespace infold::net
