// The proof that trees and routes together have no circle of waits, and that it would find one.
#include "inc/tree_deadlock.h"

#include "support/random_fabric.h"
#include "world_help.h"

namespace infold::inc {
namespace {

std::vector<Tree> all_trees(const net::FabricMap& map, const std::vector<net::NodeId>& members) {
  std::vector<Tree> trees;
  for (std::uint16_t way = 0; way < 64; ++way) {
    if (auto tree = Tree::grow(map, members, way)) trees.push_back(std::move(*tree));
  }
  return trees;
}

TEST(TreeDeadlock, NoneOnAnyFabricOfSwitches) {
  for (const net::Topology topology : {net::Topology::kSwitchPlanes, net::Topology::kFatTree}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      sim::Random random(sim::mix(seed));
      const support::Fabric fabric = support::random_fabric(topology, random);
      World world(IncSpec{}, fabric.spec, fabric.gpus, false);
      std::vector<net::NodeId> some;
      for (const net::NodeId gpu : first_gpus(fabric.gpus)) {
        if (random.below(3) != 0) some.push_back(gpu);
      }
      auto trees = all_trees(world.map, first_gpus(fabric.gpus));
      if (!some.empty()) {
        for (Tree& t : all_trees(world.map, some)) trees.push_back(std::move(t));
      }
      EXPECT_FALSE(trees.empty());
      EXPECT_EQ(find_deadlock(world.map, trees), std::nullopt) << "seed " << seed;
    }
  }
}

TEST(TreeDeadlock, TheRoutesOfARingGoRoundWhereLayersAreNotCounted) {
  // A ring needs a second layer of channels; with all in one graph its circle shows.
  net::FabricSpec spec;
  spec.topology = net::Topology::kRing;
  World world(IncSpec{}, spec, 5, false);
  EXPECT_NE(find_deadlock(world.map, {}), std::nullopt);
}

}  // namespace
}  // namespace infold::inc
