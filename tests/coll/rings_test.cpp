// find_rings(): how many rings there are on known fabrics, and that rings are always rings along free links.
#include "coll/algo/rings.h"

#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

namespace infold::coll {
namespace {

using net::Blueprint;
using net::FabricSpec;
using net::Topology;

Blueprint drawn(Topology topology, int gpus, int links_per_neighbour = 1, std::vector<int> dims = {}) {
  FabricSpec spec;
  spec.topology = topology;
  spec.links_per_neighbour = links_per_neighbour;
  spec.dims = std::move(dims);
  return draw(spec, gpus).value();
}

std::vector<int> first(int gpus) {
  std::vector<int> all(static_cast<std::size_t>(gpus));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Why these are not rings over all ranks that share no link; empty if they are.
std::string flaw(const Blueprint& b, const std::vector<int>& gpus, const std::vector<Ring>& rings) {
  std::map<std::pair<int, int>, int> free;  // links from GPU to GPU
  for (const net::Cable& c : b.cables) {
    ++free[{c.a, c.b}];
    ++free[{c.b, c.a}];
  }
  for (const Ring& ring : rings) {
    Ring sorted = ring;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != first(static_cast<int>(gpus.size()))) return "not every rank once";
    if (ring[0] != 0) return "does not start at rank 0";
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const int from = gpus[static_cast<std::size_t>(ring[i])];
      const int to = gpus[static_cast<std::size_t>(ring[(i + 1) % ring.size()])];
      if (--free[{from, to}] < 0)
        return "no link left from gpu" + std::to_string(from) + " to gpu" + std::to_string(to);
    }
  }
  return "";
}

void expect_rings(const Blueprint& b, const std::vector<int>& gpus, std::size_t count) {
  const auto rings = find_rings(b, gpus);
  EXPECT_EQ(rings.size(), count);
  EXPECT_EQ(flaw(b, gpus, rings), "");
}

TEST(Rings, FullMeshUsesEveryLink) {
  for (int gpus : {2, 3, 5, 7, 8, 9, 10, 12, 16}) {
    SCOPED_TRACE(gpus);
    expect_rings(drawn(Topology::kFullMesh, gpus), first(gpus), static_cast<std::size_t>(gpus - 1));
  }
}

TEST(Rings, FullMeshesOfFourAndSixHaveOneFewer) {  // a theorem: these two do not decompose
  expect_rings(drawn(Topology::kFullMesh, 4), first(4), 2);
  expect_rings(drawn(Topology::kFullMesh, 6), first(6), 4);
}

TEST(Rings, ParallelCablesCountSingly) {
  expect_rings(drawn(Topology::kFullMesh, 2, 5), first(2), 5);
  expect_rings(drawn(Topology::kFullMesh, 4, 2), first(4), 6);
  expect_rings(drawn(Topology::kFullMesh, 8, 2), first(8), 14);
  expect_rings(drawn(Topology::kRing, 8, 3), first(8), 6);
}

TEST(Rings, CubeMeshUsesAllSixLinksOfEachGpu) {
  expect_rings(drawn(Topology::kCubeMesh, 8), first(8), 6);
  expect_rings(drawn(Topology::kCubeMesh, 8), {3, 1, 4, 0, 5, 7, 2, 6}, 6);
}

TEST(Rings, OneQuadOfTheCubeMesh) {
  expect_rings(drawn(Topology::kCubeMesh, 8), {0, 1, 2, 3}, 4);
  expect_rings(drawn(Topology::kCubeMesh, 8), {0, 3}, 2);
}

TEST(Rings, RingGoesBothWays) {
  const auto rings = find_rings(drawn(Topology::kRing, 5), first(5));
  EXPECT_EQ(rings, (std::vector<Ring>{{0, 1, 2, 3, 4}, {0, 4, 3, 2, 1}}));
  expect_rings(drawn(Topology::kRing, 64), first(64), 2);
}

TEST(Rings, Torus) {
  expect_rings(drawn(Topology::kTorus, 16, 1, {4, 4}), first(16), 4);
  expect_rings(drawn(Topology::kTorus, 15, 1, {3, 5}), first(15), 4);
  expect_rings(drawn(Topology::kTorus, 64, 1, {8, 8}), first(64), 4);
  expect_rings(drawn(Topology::kTorus, 64, 1, {4, 4, 4}), first(64), 6);
  expect_rings(drawn(Topology::kTorus, 256, 1, {16, 16}), first(256), 4);
  expect_rings(drawn(Topology::kTorus, 8, 1, {2, 4}), first(8), 2);
}

TEST(Rings, EveryTorusOfUsualSizeHasRingsAlongItsCables) {
  for (int x = 2; x <= 8; ++x) {
    for (int y = x; y <= 8; ++y) {
      const Blueprint b = drawn(Topology::kTorus, x * y, 1, {x, y});
      const auto rings = find_rings(b, first(x * y));
      EXPECT_GE(rings.size(), 2u) << x << "x" << y;
      EXPECT_EQ(flaw(b, first(x * y), rings), "") << x << "x" << y;
    }
  }
}

TEST(Rings, RanksInAnotherOrderStillFollowTheCables) {
  std::vector<int> gpus = first(16);
  std::reverse(gpus.begin(), gpus.end());
  std::swap(gpus[3], gpus[11]);
  expect_rings(drawn(Topology::kTorus, 16, 1, {4, 4}), gpus, 4);
}

TEST(Rings, WhereCablesAllowNoneTheRanksKeepTheirOrder) {
  const std::vector<Ring> in_order = {{0, 1, 2}};
  EXPECT_EQ(find_rings(drawn(Topology::kRing, 6), std::vector{0, 1, 2}), in_order) << "a line, not a circle";
  EXPECT_EQ(find_rings(drawn(Topology::kRing, 6), std::vector{0, 2, 4}), in_order) << "no cables at all";
  EXPECT_EQ(find_rings(drawn(Topology::kCubeMesh, 8), std::vector{0, 7}), (std::vector<Ring>{{0, 1}}));
}

TEST(Rings, SwitchedFabricsKeepTheOrderOfTheRanks) {
  const std::vector<Ring> in_order = {{0, 1, 2, 3}};
  for (Topology topology : {Topology::kSwitchPlanes, Topology::kFatTree, Topology::kPcieTree}) {
    EXPECT_EQ(find_rings(drawn(topology, 8), std::vector{6, 1, 3, 0}), in_order);
  }
}

TEST(Rings, ASingleRankIsItsOwnRing) {
  EXPECT_EQ(find_rings(drawn(Topology::kCubeMesh, 8), std::vector{5}), (std::vector<Ring>{{0}}));
}

TEST(Rings, TheSameInputGivesTheSameRings) {
  const Blueprint b = drawn(Topology::kFullMesh, 8);
  EXPECT_EQ(find_rings(b, first(8)), find_rings(b, first(8)));
}

TEST(Rings, AnyChoiceOfGpusGetsRingsAlongFreeLinksOrTheirOwnOrder) {
  EXPECT_TRUE(rc::check([] {
    const int shape = *rc::gen::inRange(0, 4);
    const Blueprint b = shape == 0   ? drawn(Topology::kCubeMesh, 8)
                        : shape == 1 ? drawn(Topology::kFullMesh, 7, *rc::gen::inRange(1, 4))
                        : shape == 2 ? drawn(Topology::kTorus, 12, 1, {3, 4})
                                     : drawn(Topology::kRing, 6, 2);
    std::vector<int> gpus;
    for (int gpu = 0; gpu < b.gpus; ++gpu) {
      if (*rc::gen::inRange(0, 3) < 2) gpus.push_back(gpu);
    }
    RC_PRE(!gpus.empty());
    std::rotate(gpus.begin(), gpus.begin() + *rc::gen::inRange(0, static_cast<int>(gpus.size())), gpus.end());
    const auto rings = find_rings(b, gpus);
    RC_ASSERT(!rings.empty());
    const bool in_order = rings == std::vector<Ring>{first(static_cast<int>(gpus.size()))};
    RC_ASSERT(in_order || flaw(b, gpus, rings) == "");
  }));
}

}  // namespace
}  // namespace infold::coll
