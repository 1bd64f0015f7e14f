// prove_no_deadlock(): finds the circles of fabrics made to block themselves, and none in the shipped shapes.
#include <gmock/gmock.h>

#include <optional>

#include "fabric_help.h"

namespace infold::net {
namespace {

using testing::HasSubstr;
using testing::Optional;

/// A circle of switches with a GPU at each: its shortest ways depend on each other all the way round.
Blueprint circle_of_switches(int n) {
  Blueprint b;
  b.gpus = n;
  b.switches = n;
  for (int i = 0; i < n; ++i) b.cables.push_back({static_cast<NodeId>(i), static_cast<NodeId>(n + i)});
  for (int i = 0; i < n; ++i) {
    b.cables.push_back({static_cast<NodeId>(n + i), static_cast<NodeId>(n + (i + 1) % n)});
  }
  b.spread_divisor.assign(static_cast<std::size_t>(2 * n), 1);
  return b;
}

TEST(Deadlock, ACircleOfSwitchesBlocksItself) {
  for (int n : {4, 5, 9, 64}) {
    const Blueprint b = circle_of_switches(n);
    const auto text = deadlock_in(b);
    ASSERT_TRUE(text.has_value()) << n;
    EXPECT_THAT(*text, HasSubstr("switch1->switch2 (layer 0), switch2->switch3 (layer 0)")) << n;
    EXPECT_THAT(*text, HasSubstr(", and again switch")) << n;
  }
}

TEST(Deadlock, ACircleOfThreeSwitchesDoesNot) {
  const Blueprint b = circle_of_switches(3);  // no packet crosses two of its links
  EXPECT_EQ(deadlock_in(b), std::nullopt);
}

TEST(Deadlock, SaysWhichGpuCanNotBeReached) {
  Blueprint b;
  b.gpus = 3;
  b.switches = 1;
  b.cables = {{0, 3}, {1, 3}};  // gpu2 has none
  b.spread_divisor.assign(4, 1);
  EXPECT_EQ(deadlock_in(b), "no way from gpu2 to gpu0");
}

TEST(Deadlock, WaysThroughGpusAreFollowedToo) {
  Blueprint b;  // a line of GPUs: everything passes through the middle, and nothing turns round
  b.gpus = 4;
  b.cables = {{0, 1}, {1, 2}, {2, 3}};
  b.spread_divisor.assign(4, 1);
  EXPECT_THAT(deadlock_in(b), Optional(HasSubstr("no way"))) << "shortest ways avoid GPUs";
  b.style = RoutingStyle::kByDistance;
  EXPECT_EQ(deadlock_in(b), std::nullopt);
}

TEST(Deadlock, LargeFabricsAreFree) {
  FabricSpec nvl72;
  nvl72.planes = 9;
  nvl72.links_per_plane = {2};
  FabricSpec cube;
  cube.topology = Topology::kCubeMesh;
  FabricSpec torus;
  torus.topology = Topology::kTorus;
  torus.dims = {8, 8, 4};
  const std::pair<FabricSpec, int> fabrics[] = {
      {nvl72, 72}, {fat_tree(16, 6, 48), 128}, {cube, 8}, {torus, 256}};
  for (const auto& [spec, gpus] : fabrics) {
    const Blueprint b = drawn(spec, gpus);
    EXPECT_EQ(deadlock_in(b), std::nullopt) << sim::name_of(spec.topology);
  }
}

}  // namespace
}  // namespace infold::net
