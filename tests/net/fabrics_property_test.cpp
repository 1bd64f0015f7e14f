// Holds for any fabric that draw() accepts: every pair is reached by shortest ways, links are used once on a
// way, nothing can deadlock, and traffic is spread evenly where that is promised.
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "fabric_help.h"

namespace infold::net {
namespace {

struct Fabric {
  FabricSpec spec;
  int gpus = 0;
};

int pick(int min, int max) {
  return *rc::gen::inRange(min, max + 1);
}

Fabric any_fabric(Topology topology) {
  Fabric f;
  f.spec.topology = topology;
  f.spec.links_per_neighbour = pick(1, 3);
  switch (topology) {
    case Topology::kSwitchPlanes:
      f.gpus = pick(1, 12);
      f.spec.planes = pick(1, 6);
      f.spec.links_per_plane.resize(pick(0, 1) == 0 ? 1u : static_cast<std::size_t>(f.spec.planes));
      for (int& links : f.spec.links_per_plane) links = pick(1, 6);
      break;
    case Topology::kFatTree:
      f.spec.groups = pick(1, 4);
      f.gpus = f.spec.groups * pick(1, 4);
      f.spec.leaves_per_group = pick(1, 4);
      f.spec.spines = f.spec.leaves_per_group * pick(1, 4);
      break;
    case Topology::kPcieTree:
      f.spec.groups = pick(1, 5);
      f.gpus = f.spec.groups * pick(1, 5);
      break;
    case Topology::kTorus:
      f.spec.dims.resize(static_cast<std::size_t>(pick(2, 3)));
      for (int& side : f.spec.dims) side = pick(2, f.spec.dims.size() == 2 ? 7 : 4);
      f.gpus = std::accumulate(f.spec.dims.begin(), f.spec.dims.end(), 1, std::multiplies<>());
      break;
    case Topology::kFullMesh:
    case Topology::kRing:
      f.gpus = pick(2, 16);
      break;
    case Topology::kCubeMesh:
      f.gpus = 8;
      break;
  }
  return f;
}

class EveryFabric : public testing::TestWithParam<Topology> {};

INSTANTIATE_TEST_SUITE_P(Topologies, EveryFabric, testing::ValuesIn([] {
                           std::vector<Topology> all;
                           for (const auto& named : kTopologyNames) all.push_back(named.value);
                           return all;
                         }()),
                         [](const auto& tested) {
                           std::string name(sim::name_of(tested.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EveryFabric, ReachesEveryPairByShortestWays) {
  EXPECT_TRUE(rc::check([&] {
    const Fabric f = any_fabric(GetParam());
    const Blueprint b = drawn(f.spec, f.gpus);
    const Routes routes = routes_of(b);
    const auto hops = all_distances(b);
    int diameter = 0;
    for (NodeId to = 0; to < b.gpus; ++to) {
      for (NodeId from = 0; from < b.nodes(); ++from) {
        const Hop& hop = routes.hop(from, to);
        const auto links = routes.candidates(hop);
        RC_ASSERT((hop.count == 0) == (from == to));
        RC_ASSERT(hop.layer < routes.layers());
        RC_ASSERT(std::is_sorted(links.begin(), links.end()));
        RC_ASSERT(std::adjacent_find(links.begin(), links.end()) == links.end());
        for (LinkId link : links) {
          RC_ASSERT(from_of(b, link) == from);
          RC_ASSERT(hops[to_of(b, link)][to] == hops[from][to] - 1);
        }
        if (b.is_gpu(from)) diameter = std::max(diameter, hops[from][to]);
      }
    }
    RC_ASSERT(routes.diameter() == diameter);
  }));
}

TEST_P(EveryFabric, UsesNoLinkTwiceOnAWay) {
  EXPECT_TRUE(rc::check([&] {
    const Fabric f = any_fabric(GetParam());
    const Blueprint b = drawn(f.spec, f.gpus);
    const Routes routes = routes_of(b);
    const int from = pick(0, f.gpus - 1);
    const int to = pick(0, f.gpus - 1);
    const auto links = path(b, routes, from, to, pick(0, 65535));
    RC_ASSERT(std::set<LinkId>(links.begin(), links.end()).size() == links.size());
    RC_ASSERT(links.empty() == (from == to));
  }));
}

TEST_P(EveryFabric, IsFreeOfDeadlock) {
  EXPECT_TRUE(rc::check([&] {
    const Fabric f = any_fabric(GetParam());
    const Blueprint b = drawn(f.spec, f.gpus);
    RC_ASSERT(deadlock_in(b) == std::nullopt);
  }));
}

// All GPUs send to all others with each spread value of one full round. Links between the same kinds of chips
// then carry the same.
TEST(EvenLoad, OnSwitchPlanesAndFatTrees) {
  EXPECT_TRUE(rc::check([&] {
    const bool planes = pick(0, 1) == 0;
    const Fabric f = any_fabric(planes ? Topology::kSwitchPlanes : Topology::kFatTree);
    const Blueprint b = drawn(f.spec, f.gpus);
    const Routes routes = routes_of(b);
    const int round = planes ? cables_at(b, 0) : f.spec.spines;
    std::vector<int> load(2 * b.cables.size(), 0);
    for (int from = 0; from < b.gpus; ++from) {
      for (int to = 0; to < b.gpus; ++to) {
        for (int spread = 0; spread < round && from != to; ++spread) {
          for (LinkId link : path(b, routes, from, to, spread)) ++load[link];
        }
      }
    }
    std::map<std::tuple<bool, bool, bool>, std::set<int>> loads;
    for (std::size_t i = 0; i < load.size(); ++i) {
      const auto link = static_cast<LinkId>(i);
      loads[{b.is_gpu(from_of(b, link)), b.is_gpu(to_of(b, link)), link % 2 == 0}].insert(load[i]);
    }
    for (const auto& [kind, seen] : loads) RC_ASSERT(seen.size() == 1u);
  }));
}

}  // namespace
}  // namespace infold::net
