// Rings and trees over nodes: every rank once, hops between nodes on their rails, every NIC used alike.
#include "coll/algo/over_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "coll/algo/trees.h"
#include "net/topology/scale_out.h"

namespace infold::coll {
namespace {

net::Blueprint machine_of(int nodes, int each) {
  net::FabricSpec fabric;
  const net::Blueprint node = net::draw(fabric, each).value();
  const net::NicPorts ports{.rate = sim::Bandwidth::bytes_per_s(50'000'000'000),
                            .packet = {.payload = sim::Bytes::kib(4)}};
  const net::Blueprint out = net::draw_scale_out({}, ports, nodes, each).value();
  return net::whole_machine(node, nodes, node.link_types.front(), out).value();
}

std::vector<int> all_gpus(const net::Blueprint& machine) {
  std::vector<int> gpus(static_cast<std::size_t>(machine.gpus));
  std::iota(gpus.begin(), gpus.end(), 0);
  return gpus;
}

TEST(OverNodes, RingsVisitEveryRankOnceAndEveryNodeInOneGo) {
  for (const int nodes : {2, 3, 4, 5}) {
    for (const int each : {1, 2, 3, 4, 8}) {
      const net::Blueprint machine = machine_of(nodes, each);
      const std::vector<int> gpus = all_gpus(machine);
      const std::vector<Ring> rings = find_rings(machine, gpus);
      EXPECT_EQ(rings.size(), static_cast<std::size_t>(each));
      for (const Ring& ring : rings) {
        EXPECT_EQ(std::set<int>(ring.begin(), ring.end()).size(), gpus.size());
        int changes = 0;
        for (std::size_t i = 0; i < ring.size(); ++i)
          changes += machine.node_of(ring[i]) != machine.node_of(ring[(i + 1) % ring.size()]) ? 1 : 0;
        EXPECT_EQ(changes, nodes);
      }
    }
  }
}

TEST(OverNodes, HopsBetweenNodesStayOnTheirRailsAndUseEveryNicOnceEachWay) {
  for (const int nodes : {2, 3, 4, 5, 8}) {
    for (const int each : {1, 2, 4, 8}) {
      const net::Blueprint machine = machine_of(nodes, each);
      std::map<int, int> out;
      std::map<int, int> in;
      int crossings = 0;
      for (const Ring& ring : find_rings(machine, all_gpus(machine))) {
        for (std::size_t i = 0; i < ring.size(); ++i) {
          const int from = ring[i];
          const int to = ring[(i + 1) % ring.size()];
          if (machine.node_of(from) == machine.node_of(to)) continue;
          ++out[from];
          ++in[to];
          crossings += from % each != to % each ? 1 : 0;
        }
      }
      const bool possible = nodes % 2 == 0 || each == 1 || each > 2;
      EXPECT_EQ(crossings, possible ? 0 : each) << nodes << " x " << each;
      for (int gpu = 0; gpu < nodes * each; ++gpu) {
        EXPECT_EQ(out[gpu], 1) << nodes << " x " << each << ", GPU " << gpu;
        EXPECT_EQ(in[gpu], 1) << nodes << " x " << each << ", GPU " << gpu;
      }
    }
  }
}

TEST(OverNodes, ACommunicatorWithinANodeIsAsOnASingleNode) {
  const net::Blueprint machine = machine_of(2, 4);
  const std::vector<int> gpus = {4, 5, 6, 7};
  EXPECT_FALSE(over_nodes(machine, gpus));
  EXPECT_EQ(find_rings(machine, gpus), (std::vector<Ring>{{0, 1, 2, 3}}));
}

TEST(OverNodes, TreesAreChainsBelowTheHeadsOfARail) {
  const net::Blueprint machine = machine_of(4, 4);
  const std::vector<int> gpus = all_gpus(machine);
  Request request;
  request.gpus = gpus;
  request.fabric = &machine;
  for (int channel = 0; channel < 8; ++channel) {
    const Tree tree = tree_over_nodes(request, channel, 8);
    int roots = 0;
    for (std::size_t rank = 0; rank < tree.size(); ++rank) {
      const TreeNode& node = tree[rank];
      roots += node.root() ? 1 : 0;
      for (const int child : node.children)
        EXPECT_EQ(tree[static_cast<std::size_t>(child)].parent, static_cast<int>(rank));
      if (node.root() || machine.node_of(node.parent) == machine.node_of(static_cast<int>(rank))) continue;
      EXPECT_EQ(static_cast<int>(rank) % 4, channel % 4) << "only heads, which are on the channel's rail";
      EXPECT_EQ(node.parent % 4, channel % 4);
    }
    EXPECT_EQ(roots, 1);
  }
  const auto passes_on = [&](int channel, int rank) {
    int others = 0;
    const Tree tree = tree_over_nodes(request, channel, 8);
    for (const int child : tree[static_cast<std::size_t>(rank)].children)
      others += machine.node_of(child) != machine.node_of(rank) ? 1 : 0;
    return others > 0;
  };
  for (const int rank : {0, 4, 8, 12})
    EXPECT_FALSE(passes_on(0, rank) && passes_on(4, rank))
        << "a head is a leaf in one of its rail's two trees";
}

}  // namespace
}  // namespace infold::coll
