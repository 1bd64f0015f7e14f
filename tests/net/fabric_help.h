// What the tests of topologies, routes and deadlocks share: drawing, and a second opinion on distances.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "net/topology/blueprint.h"
#include "net/topology/routes.h"

namespace infold::net {

inline FabricSpec fat_tree(int groups, int leaves, int spines) {
  FabricSpec spec;
  spec.topology = Topology::kFatTree;
  spec.groups = groups;
  spec.leaves_per_group = leaves;
  spec.spines = spines;
  return spec;
}

inline FabricSpec shaped(Topology topology) {
  FabricSpec spec;
  spec.topology = topology;
  return spec;
}

inline FabricSpec torus(const std::vector<int>& dims, int links) {
  FabricSpec spec = shaped(Topology::kTorus);
  spec.dims = dims;
  spec.links_per_neighbour = links;
  return spec;
}

inline Blueprint drawn(const FabricSpec& spec, int gpus) {
  auto drawing = draw(spec, gpus);
  if (!drawing) {
    ADD_FAILURE() << drawing.error().parameter << ": " << drawing.error().message;
    return {};
  }
  return *std::move(drawing);
}

inline Routes routes_of(const Blueprint& b) {
  return Routes::make(b).value();
}

/// What stands in the way of deadlock freedom, if anything does.
inline std::optional<std::string> deadlock_in(const Blueprint& b) {
  const auto proved = prove_no_deadlock(b, routes_of(b));
  if (proved) return std::nullopt;
  return proved.error().message;
}

inline NodeId from_of(const Blueprint& b, LinkId link) {
  return link % 2 == 0 ? b.cables[link / 2u].a : b.cables[link / 2u].b;
}
inline NodeId to_of(const Blueprint& b, LinkId link) {
  return link % 2 == 0 ? b.cables[link / 2u].b : b.cables[link / 2u].a;
}

/// Parallel cables between two chips.
inline int cables_between(const Blueprint& b, int x, int y) {
  int count = 0;
  for (const Cable& c : b.cables) count += (c.a == x && c.b == y) || (c.a == y && c.b == x) ? 1 : 0;
  return count;
}

/// Cables of a chip.
inline int cables_at(const Blueprint& b, int node) {
  int count = 0;
  for (const Cable& c : b.cables) count += c.a == node || c.b == node ? 1 : 0;
  return count;
}

/// Hops between all chips by relaxation, on purpose not the way the router does it.
inline std::vector<std::vector<int>> all_distances(const Blueprint& b) {
  const auto nodes = static_cast<std::size_t>(b.nodes());
  constexpr int kFar = 1 << 20;
  std::vector<std::vector<int>> hops(nodes, std::vector<int>(nodes, kFar));
  for (std::size_t from = 0; from < nodes; ++from) {
    hops[from][from] = 0;
    for (bool changed = true; changed;) {
      changed = false;
      for (const Cable& c : b.cables) {
        int& x = hops[from][c.a];
        int& y = hops[from][c.b];
        if (x + 1 < y) y = x + 1, changed = true;
        if (y + 1 < x) x = y + 1, changed = true;
      }
    }
  }
  return hops;
}

/// The links a packet takes; stops after more hops than there are chips.
inline std::vector<LinkId> path(const Blueprint& b, const Routes& routes, int from, int to, int spread) {
  std::vector<LinkId> links;
  auto node = static_cast<NodeId>(from);
  while (node != to && static_cast<int>(links.size()) <= b.nodes()) {
    if (routes.hop(node, static_cast<NodeId>(to)).count == 0) return {};
    links.push_back(routes.next(node, static_cast<NodeId>(to), static_cast<std::uint16_t>(spread)));
    node = to_of(b, links.back());
  }
  return links;
}

}  // namespace infold::net
