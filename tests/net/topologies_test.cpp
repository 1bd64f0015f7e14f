// Which chips and cables each topology draws.
#include "fabric_help.h"

namespace infold::net {
namespace {

TEST(SwitchPlanes, LanesGoPlaneByPlane) {
  FabricSpec spec;
  spec.planes = 4;
  spec.links_per_plane = {5, 4, 4, 5};  // HGX H100
  const Blueprint b = drawn(spec, 8);
  EXPECT_EQ(b.gpus, 8);
  EXPECT_EQ(b.switches, 4);
  EXPECT_EQ(b.cables.size(), 8u * 18u);
  EXPECT_EQ(b.style, RoutingStyle::kShortest);
  for (int gpu = 0; gpu < 8; ++gpu) {
    std::vector<int> planes;
    for (const Cable& c : b.cables) {
      if (c.a == gpu) planes.push_back(c.b - 8);
    }
    EXPECT_EQ(planes, (std::vector<int>{0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 3}));
  }
}

TEST(SwitchPlanes, OneNumberServesAllPlanes) {
  FabricSpec spec;
  spec.planes = 6;
  spec.links_per_plane = {2};  // DGX A100
  const Blueprint b = drawn(spec, 8);
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(cables_at(b, gpu), 12);
  for (int plane = 8; plane < 14; ++plane) EXPECT_EQ(cables_at(b, plane), 16);
}

TEST(SwitchPlanes, ASingleGpuIsAMachineToo) {
  EXPECT_EQ(drawn(FabricSpec{}, 1).cables.size(), 1u);
}

TEST(FatTree, Klenk128) {
  const Blueprint b = drawn(fat_tree(16, 6, 48), 128);
  EXPECT_EQ(b.switches, 16 * 6 + 48);
  EXPECT_EQ(b.cables.size(), 128u * 6u + 16u * 48u);
  for (int gpu = 0; gpu < 128; ++gpu) EXPECT_EQ(cables_at(b, gpu), 6);
  for (int leaf = 128; leaf < 128 + 96; ++leaf) {
    EXPECT_EQ(cables_at(b, leaf), 8 + 8);
    EXPECT_EQ(b.spread_divisor[static_cast<std::size_t>(leaf)], 6);
  }
  for (int spine = 224; spine < 272; ++spine) {
    EXPECT_EQ(cables_at(b, spine), 16);
    EXPECT_EQ(b.spread_divisor[static_cast<std::size_t>(spine)], 1);
  }
  EXPECT_EQ(cables_between(b, 128 + 6 * 3 + 2, 224 + 2 * 8), 1)
      << "leaf 2 of group 3 and the first of its spines";
  EXPECT_EQ(cables_between(b, 128 + 6 * 3 + 2, 224 + 3 * 8), 0);
}

TEST(FatTree, ASingleGroupNeedsNoSpines) {
  FabricSpec spec;
  spec.topology = Topology::kFatTree;
  spec.leaves_per_group = 6;
  spec.spines = 1;  // not a multiple of 6, and of no importance
  const Blueprint b = drawn(spec, 8);
  EXPECT_EQ(b.switches, 6);
  EXPECT_EQ(b.cables.size(), 48u);
}

TEST(FullMesh, LanesGoInTheOrderOfNeighbours) {
  FabricSpec spec;
  spec.topology = Topology::kFullMesh;
  spec.links_per_neighbour = 2;
  const Blueprint b = drawn(spec, 4);
  std::vector<int> neighbours;
  for (const Cable& c : b.cables) {
    if (c.a == 2) neighbours.push_back(c.b);
    if (c.b == 2) neighbours.push_back(c.a);
  }
  EXPECT_EQ(neighbours, (std::vector<int>{0, 0, 1, 1, 3, 3}));
}

TEST(Torus, EveryGpuHasTwoNeighboursADimension) {
  const FabricSpec spec = torus({4, 3, 5}, 2);
  const Blueprint b = drawn(spec, 60);
  EXPECT_EQ(b.style, RoutingStyle::kDimensionOrder);
  EXPECT_EQ(b.dims, spec.dims);
  for (int gpu = 0; gpu < 60; ++gpu) EXPECT_EQ(cables_at(b, gpu), 12);
  EXPECT_EQ(cables_between(b, 0, 1), 2);
  EXPECT_EQ(cables_between(b, 0, 3), 2) << "round the first side";
  EXPECT_EQ(cables_between(b, 0, 8), 2) << "round the second";
  EXPECT_EQ(cables_between(b, 0, 48), 2) << "round the third";
}

TEST(Torus, ASideOfTwoGetsOneSetOfCables) {
  FabricSpec spec;
  spec.topology = Topology::kTorus;
  spec.dims = {2, 4};
  const Blueprint b = drawn(spec, 8);
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(cables_at(b, gpu), 3);
  EXPECT_EQ(cables_between(b, 0, 1), 1);
}

TEST(Ring, IsATorusOfOneDimension) {
  const FabricSpec spec = shaped(Topology::kRing);
  const Blueprint b = drawn(spec, 5);
  EXPECT_EQ(b.dims, std::vector<int>{5});
  for (int gpu = 0; gpu < 5; ++gpu) EXPECT_EQ(cables_between(b, gpu, (gpu + 1) % 5), 1);
  EXPECT_EQ(drawn(spec, 2).cables.size(), 1u);
}

TEST(CubeMesh, IsTheOneOfDgx1V) {
  const FabricSpec spec = shaped(Topology::kCubeMesh);
  const Blueprint b = drawn(spec, 8);
  const std::vector<std::vector<int>> nvlinks = {
      {0, 1, 1, 2, 2, 0, 0, 0}, {1, 0, 2, 1, 0, 2, 0, 0}, {1, 2, 0, 2, 0, 0, 1, 0}, {2, 1, 2, 0, 0, 0, 0, 1},
      {2, 0, 0, 0, 0, 1, 1, 2}, {0, 2, 0, 0, 1, 0, 2, 1}, {0, 0, 1, 0, 1, 2, 0, 2}, {0, 0, 0, 1, 2, 1, 2, 0}};
  for (int x = 0; x < 8; ++x) {
    for (int y = 0; y < 8; ++y) {
      EXPECT_EQ(cables_between(b, x, y), nvlinks[static_cast<std::size_t>(x)][static_cast<std::size_t>(y)])
          << x << " " << y;
    }
    EXPECT_EQ(cables_at(b, x), 6);
  }
}

TEST(PcieTree, HasARootOnlyAboveSeveralSwitches) {
  FabricSpec spec;
  spec.topology = Topology::kPcieTree;
  spec.groups = 2;
  const Blueprint two = drawn(spec, 8);
  EXPECT_EQ(two.switches, 3);
  EXPECT_EQ(cables_between(two, 3, 8), 1);
  EXPECT_EQ(cables_between(two, 4, 9), 1);
  EXPECT_EQ(cables_between(two, 8, 10) + cables_between(two, 9, 10), 2);
  spec.groups = 1;
  EXPECT_EQ(drawn(spec, 8).switches, 1);
}

}  // namespace
}  // namespace infold::net
