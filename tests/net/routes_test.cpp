// Routing tables on fabrics small enough to know the answer.
#include <gmock/gmock.h>

#include <map>

#include "fabric_help.h"

namespace infold::net {
namespace {

using testing::Each;
using testing::ElementsAre;

std::vector<int> nodes_on(const Blueprint& b, const std::vector<LinkId>& links) {
  std::vector<int> nodes;
  for (LinkId link : links) nodes.push_back(to_of(b, link));
  return nodes;
}

TEST(Routes, AGpuMayUseAllItsLanesToASwitchedOne) {
  FabricSpec spec;
  spec.planes = 3;
  spec.links_per_plane = {2};
  const Blueprint b = drawn(spec, 4);
  const Routes routes = routes_of(b);
  EXPECT_THAT(routes.candidates(routes.hop(0, 3)), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_EQ(routes.hop(2, 2).count, 0);
  EXPECT_EQ(routes.layers(), 1);
  EXPECT_EQ(routes.diameter(), 2);
}

// For all pairs, the spread values 0 .. lanes-1 use every lane of both ends exactly once.
void expect_even_lanes(const std::vector<int>& links_per_plane, int gpus) {
  FabricSpec spec;
  spec.planes = static_cast<int>(links_per_plane.size());
  spec.links_per_plane = links_per_plane;
  const Blueprint b = drawn(spec, gpus);
  const Routes routes = routes_of(b);
  const int lanes = cables_at(b, 0);
  for (int from = 0; from < gpus; ++from) {
    for (int to = 0; to < gpus; ++to) {
      if (from == to) continue;
      std::vector<int> load(2 * b.cables.size(), 0);
      for (int spread = 0; spread < lanes; ++spread) {
        const auto links = path(b, routes, from, to, spread);
        ASSERT_EQ(links.size(), 2u);
        for (LinkId link : links) ++load[link];
      }
      for (std::size_t link = 0; link < load.size(); ++link) {
        const auto id = static_cast<LinkId>(link);
        const bool is_theirs = from_of(b, id) == from || to_of(b, id) == to;
        ASSERT_EQ(load[link], is_theirs ? 1 : 0) << "gpu" << from << " to gpu" << to << ", link " << link;
      }
    }
  }
}

TEST(Routes, SwitchPlanesSpreadEvenlyOverTheLanesOfBothEnds) {
  expect_even_lanes({5, 4, 4, 5}, 8);            // HGX H100
  expect_even_lanes({2, 2, 2, 2, 2, 2}, 8);      // DGX A100
  expect_even_lanes({1, 1, 1, 1, 1, 1}, 16);     // DGX-2
  expect_even_lanes(std::vector(9, 2), 12);      // NVL72, shortened
  expect_even_lanes({3, 7, 1, 2, 64, 5, 4}, 5);  // nothing in common
}

TEST(Routes, KlenkFatTreeSpreadsUniformTrafficEvenlyOverAllLinks) {
  const Blueprint b = drawn(fat_tree(16, 6, 48), 128);
  const Routes routes = routes_of(b);
  EXPECT_EQ(routes.diameter(), 4);
  std::vector<int> load(2 * b.cables.size(), 0);
  for (int from = 0; from < b.gpus; ++from) {
    for (int to = 0; to < b.gpus; ++to) {
      if (from == to) continue;
      for (int spread = 0; spread < 48; ++spread) {
        for (LinkId link : path(b, routes, from, to, spread)) ++load[link];
      }
    }
  }
  const std::size_t gpu_links = 2 * 128 * 6;
  const std::vector<int> below(load.begin(), load.begin() + gpu_links);
  const std::vector<int> above(load.begin() + gpu_links, load.end());
  EXPECT_THAT(below, Each(127 * 48 / 6));
  EXPECT_THAT(above, Each(8 * 120 * 48 / 48)) << "a group's 8 GPUs to the 120 others, over 48 links up";
}

TEST(Routes, FatTreeUsesEachWayBetweenTwoGroupsOnce) {
  const Blueprint b = drawn(fat_tree(16, 6, 48), 128);
  const Routes routes = routes_of(b);
  std::map<int, int> uses;  // of each spine
  for (int spread = 0; spread < 48; ++spread) ++uses[nodes_on(b, path(b, routes, 3, 77, spread))[1]];
  EXPECT_EQ(uses.size(), 48u);
}

TEST(Routes, ShortestWaysDoNotPassThroughGpus) {
  Blueprint b;  // gpu0 - gpu1 - gpu2 in a line, and a detour gpu0 - switch0 - switch1 - gpu2
  b.gpus = 3;
  b.switches = 2;
  b.cables = {{0, 1}, {1, 2}, {0, 3}, {3, 4}, {4, 2}};
  b.spread_divisor.assign(5, 1);
  const Routes routes = routes_of(b);
  EXPECT_THAT(nodes_on(b, path(b, routes, 0, 2, 0)), ElementsAre(3, 4, 2));
  EXPECT_THAT(nodes_on(b, path(b, routes, 0, 1, 0)), ElementsAre(1));
  EXPECT_EQ(routes.diameter(), 3);
}

TEST(Routes, RingTakesTheShorterWayAndOnATieTheUpwardOne) {
  const FabricSpec spec = shaped(Topology::kRing);
  const Blueprint b = drawn(spec, 6);
  const Routes routes = routes_of(b);
  EXPECT_THAT(nodes_on(b, path(b, routes, 0, 2, 0)), ElementsAre(1, 2));
  EXPECT_THAT(nodes_on(b, path(b, routes, 1, 5, 0)), ElementsAre(0, 5));
  EXPECT_THAT(nodes_on(b, path(b, routes, 4, 1, 0)), ElementsAre(5, 0, 1));
  EXPECT_EQ(routes.diameter(), 3);
  EXPECT_EQ(routes.hop(4, 1).links, 3);
  EXPECT_EQ(routes.hop(5, 0).links, 1);
}

TEST(Routes, RingChangesLayerBehindTheDateline) {
  const FabricSpec spec = shaped(Topology::kRing);
  const Routes routes = routes_of(drawn(spec, 6));
  EXPECT_EQ(routes.layers(), 2);
  EXPECT_EQ(routes.hop(4, 1).layer, 0) << "the wrap link lies ahead";
  EXPECT_EQ(routes.hop(5, 1).layer, 0) << "it comes next";
  EXPECT_EQ(routes.hop(0, 1).layer, 1) << "it lies behind";
  EXPECT_EQ(routes.hop(1, 3).layer, 1) << "it was never on the way";
  EXPECT_EQ(routes.hop(1, 5).layer, 0) << "downwards, it lies ahead";
  EXPECT_EQ(routes.hop(5, 4).layer, 1);
}

TEST(Routes, TorusFinishesOneDimensionBeforeTheNext) {
  const FabricSpec spec = torus({4, 4, 4}, 3);
  const Blueprint b = drawn(spec, 64);
  const Routes routes = routes_of(b);
  EXPECT_THAT(nodes_on(b, path(b, routes, 0, 3 + 4 + 32, 0)), ElementsAre(3, 7, 7 + 16, 7 + 32));
  EXPECT_EQ(routes.hop(0, 1).count, 3) << "the parallel cables to the neighbour";
  EXPECT_EQ(routes.diameter(), 6);
}

TEST(Routes, CubeMeshGoesByTheLowestNeighbourAndCountsLayersDown) {
  const FabricSpec spec = shaped(Topology::kCubeMesh);
  const Blueprint b = drawn(spec, 8);
  const Routes routes = routes_of(b);
  EXPECT_EQ(routes.layers(), 2);
  EXPECT_EQ(routes.diameter(), 2);
  EXPECT_THAT(nodes_on(b, path(b, routes, 0, 7, 0)), ElementsAre(3, 7)) << "3 and 4 both lead there";
  EXPECT_EQ(routes.hop(0, 7).count, 2) << "both cables to gpu3";
  EXPECT_EQ(routes.hop(0, 7).layer, 1);
  EXPECT_EQ(routes.hop(3, 7).layer, 0);
}

TEST(Routes, UnreachableGpusHaveNoCandidates) {
  Blueprint b;
  b.gpus = 2;
  b.spread_divisor.assign(2, 1);
  const Routes routes = routes_of(b);
  EXPECT_EQ(routes.hop(0, 1).count, 0);
}

TEST(Routes, EqualCandidateListsAreStoredOnce) {
  FabricSpec spec;
  spec.planes = 4;
  spec.links_per_plane = {4};
  const Blueprint b = drawn(spec, 200);
  const Routes routes = routes_of(b);
  for (NodeId to = 2; to < 200; ++to) EXPECT_EQ(routes.hop(0, to).first, routes.hop(0, 1).first);
}

}  // namespace
}  // namespace infold::net
