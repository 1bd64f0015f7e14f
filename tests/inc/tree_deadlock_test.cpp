// The proof that trees and routes together have no circle of waits, and that it would find one.
#include "inc/tree_deadlock.h"

#include <gmock/gmock.h>

#include "support/random_fabric.h"
#include "world_help.h"

namespace infold::inc {
namespace {

using testing::HasSubstr;

std::vector<TreeShape> all_trees(const TreeGrower& grower, const std::vector<net::NodeId>& members) {
  std::vector<TreeShape> trees;
  for (std::uint16_t way = 0; way < 64; ++way) {
    if (auto tree = grower.grow(members, way)) trees.push_back(std::move(*tree));
  }
  return trees;
}

TEST(TreeDeadlock, NoneOnAnyFabricOfSwitches) {
  for (const net::Topology topology : {net::Topology::kSwitchPlanes, net::Topology::kFatTree}) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
      sim::Random random(sim::mix(seed));
      const support::Fabric fabric = support::random_fabric(topology, random);
      const net::Blueprint blueprint = net::draw(fabric.spec, fabric.gpus).value();
      const net::Routes routes = net::Routes::make(blueprint).value();
      const TreeGrower grower(blueprint, routes);
      std::vector<net::NodeId> some;
      for (const net::NodeId gpu : first_gpus(fabric.gpus)) {
        if (random.below(3) != 0) some.push_back(gpu);
      }
      auto trees = all_trees(grower, first_gpus(fabric.gpus));
      if (!some.empty()) {
        for (TreeShape& t : all_trees(grower, some)) trees.push_back(std::move(t));
      }
      EXPECT_FALSE(trees.empty());
      EXPECT_TRUE(prove_trees(blueprint, routes, trees)) << "seed " << seed;
      EXPECT_TRUE(prove_trees(blueprint, routes)) << "seed " << seed;
    }
  }
}

TEST(TreeDeadlock, TheRoutesOfARingGoRoundWhereLayersAreNotCounted) {
  // A ring needs a second layer of channels; with all in one graph its circle shows.
  net::FabricSpec spec;
  spec.topology = net::Topology::kRing;
  const net::Blueprint blueprint = net::draw(spec, 5).value();
  const net::Routes routes = net::Routes::make(blueprint).value();
  const auto proved = prove_trees(blueprint, routes, std::span<const TreeShape>{});
  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().parameter, "fabric.topology");
  EXPECT_THAT(proved.error().message, HasSubstr("gpu1->gpu2, gpu2->gpu3"));
}

/// Three leaves with a GPU each below two spines, without trees.
net::Blueprint three_leaves() {
  return net::draw(fat_tree(3, 1, 2), 3).value();
}
constexpr net::LinkId up(net::LinkId cable) {
  return 2 * cable;
}
constexpr net::LinkId down(net::LinkId cable) {
  return 2 * cable + 1;
}

TEST(TreeDeadlock, TreesThatMeetInEachOthersLinksAreFound) {
  // Cables 3 to 8 join leaves 3, 4, 5 with spines 6 and 7, two per leaf. One tree has spine 6 as its root;
  // the other sends upwards what the first sends downwards: its root is leaf 3, and spine 6 is below it.
  const net::Blueprint blueprint = three_leaves();
  const net::Routes routes = net::Routes::make(blueprint).value();
  const TreeShape spine_on_top{.nodes = {{.chip = 6,
                                          .parent = {},
                                          .children = {{.node = 3, .out = down(3)},
                                                       {.node = 4, .out = down(5)},
                                                       {.node = 5, .out = down(7)}},
                                          .members = 3}}};
  const TreeShape leaf_on_top{
      .nodes = {{.chip = 6,
                 .parent = down(3),
                 .children = {{.node = 4, .out = down(5)}, {.node = 5, .out = down(7)}},
                 .members = 2},
                {.chip = 4, .parent = down(5), .children = {{.node = 6, .out = up(5)}}, .members = 1},
                {.chip = 3, .parent = {}, .children = {{.node = 6, .out = up(3)}}, .members = 3}}};
  EXPECT_TRUE(prove_trees(blueprint, routes, std::vector{spine_on_top}));
  const auto proved = prove_trees(blueprint, routes, std::vector{spine_on_top, leaf_on_top});
  ASSERT_FALSE(proved);
  EXPECT_THAT(proved.error().message, HasSubstr("trees of switches can deadlock: "));
}

TEST(TreeDeadlock, StopsWhenAskedTo) {
  const net::Blueprint blueprint = three_leaves();
  const net::Routes routes = net::Routes::make(blueprint).value();
  const auto proved = prove_trees(blueprint, routes, [] { return false; });
  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().kind, sim::Error::Kind::kInterrupted);
}

}  // namespace
}  // namespace infold::inc
