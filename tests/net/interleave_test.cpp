// Address interleaving: blocks of a buffer are spread evenly over all ways to their destination.
#include <numeric>
#include <set>

#include "fabric_help.h"
#include "traffic_help.h"

namespace infold::net {
namespace {

struct Case {
  const char* name;
  int gpus;
  FabricSpec spec;
};

FabricSpec planes(int count, std::vector<int> links) {
  FabricSpec spec;
  spec.planes = count;
  spec.links_per_plane = std::move(links);
  return spec;
}
FabricSpec neighbours(Topology topology, int links, std::vector<int> dims = {}) {
  FabricSpec spec;
  spec.topology = topology;
  spec.links_per_neighbour = links;
  spec.dims = std::move(dims);
  return spec;
}

std::vector<Case> cases() {
  return {
      {"dgx2", 16, planes(6, {1})},
      {"a100", 8, planes(6, {2})},
      {"h100", 8, planes(4, {5, 4, 4, 5})},
      {"one_plane", 3, planes(1, {3})},
      {"two_leaves", 8, fat_tree(2, 2, 6)},
      // Enable once Network::two_stages_ no longer looks at divisors: a single leaf has divisor 1.
      {"single_leaves", 8, fat_tree(4, 1, 3)},
      {"one_group", 4, fat_tree(1, 3, 3)},
      {"mi300x", 8, neighbours(Topology::kFullMesh, 1)},
      {"full_mesh_2", 5, neighbours(Topology::kFullMesh, 2)},
      {"ring_3", 6, neighbours(Topology::kRing, 3)},
      {"torus_2", 12, neighbours(Topology::kTorus, 2, {3, 4})},
      {"cube_mesh", 8, neighbours(Topology::kCubeMesh, 1)},
  };
}

class Interleaving : public testing::TestWithParam<std::tuple<Case, Interleave>> {};
INSTANTIATE_TEST_SUITE_P(Presets, Interleaving,
                         testing::Combine(testing::ValuesIn(cases()),
                                          testing::Values(Interleave::kStride, Interleave::kHash)),
                         [](const auto& tested) {
                           return std::string(std::get<0>(tested.param).name) + "_" +
                                  std::string(sim::name_of(std::get<1>(tested.param)));
                         });

TEST_P(Interleaving, SpreadsEvenlyOverAllWays) {
  Case c = std::get<0>(GetParam());
  c.spec.interleave = std::get<1>(GetParam());
  for (int to = 1; to < c.gpus; ++to) {
    Scene scene(c.spec, c.gpus);
    const int lanes = static_cast<int>(FabricMap(scene.blueprint, scene.routes).outlets(0).size());
    const int blocks = lanes * 12;  // rounds enough for a second stage of switches
    for (int block = 0; block < blocks; ++block) {
      Packet p = write(0, to);
      p.set_spread(scene.network.traits().interleaving.spread_of(
          static_cast<std::uint64_t>(block) * static_cast<std::uint64_t>(c.spec.interleave_block.count())));
      scene.send(p, 0);
    }
    scene.events.run();
    // Links between the same two layers of chips on the way carry the same.
    const Routes& routes = scene.routes;
    std::set<NodeId> here = {0};
    while (!here.empty() && !here.contains(static_cast<NodeId>(to))) {
      std::set<std::uint64_t> loads;
      std::set<NodeId> next;
      for (NodeId node : here) {
        for (LinkId link : routes.candidates(routes.hop(node, static_cast<NodeId>(to)))) {
          loads.insert(scene.network.links()[link]->traffic().packets);
          next.insert(scene.network.links()[link]->to());
        }
      }
      EXPECT_EQ(loads.size(), 1u) << "to gpu" << to << " from layer of " << here.size();
      EXPECT_FALSE(loads.contains(0)) << "a way to gpu" << to << " is never used";
      here = std::move(next);
    }
  }
}

TEST_P(Interleaving, KeepsABlockOnOneLane) {
  Case c = std::get<0>(GetParam());
  c.spec.interleave = std::get<1>(GetParam());
  Scene scene(c.spec, c.gpus);
  for (std::uint64_t block : {0u, 1u, 77u, 12'345u}) {
    const std::uint64_t first = block * 4'096;
    EXPECT_EQ(scene.network.traits().interleaving.spread_of(first),
              scene.network.traits().interleaving.spread_of(first + 1));
    EXPECT_EQ(scene.network.traits().interleaving.spread_of(first),
              scene.network.traits().interleaving.spread_of(first + 4'095));
  }
}

TEST(Interleaving, StrideGoesToConsecutiveLinksAndHashDoesNot) {
  FabricSpec spec = planes(6, {1});
  const auto lanes_in_order = [&](Interleave interleave) {
    spec.interleave = interleave;
    Scene scene(spec, 2);
    bool in_order = true;
    for (std::uint64_t block = 0; block < 60; ++block)
      in_order = in_order && scene.network.traits().interleaving.spread_of(block * 4'096) % 6 == block % 6;
    return in_order;
  };
  EXPECT_TRUE(lanes_in_order(Interleave::kStride));
  EXPECT_FALSE(lanes_in_order(Interleave::kHash));
}

}  // namespace
}  // namespace infold::net
