// Collects the waits of trees and of routes, and searches for a cycle (Dally and Seitz).
#include "inc/tree_deadlock.h"

#include <fmt/format.h>

#include <optional>
#include <set>
#include <vector>

#include "net/topology/cycle_search.h"

namespace infold::inc {

namespace {

using Waits = std::vector<std::set<net::LinkId>>;  // by link

void add_tree(const Tree& tree, Waits& waits) {
  for (const TreeNode& node : tree.nodes()) {
    for (const TreeNode::Child& from : node.children) {
      const net::LinkId up = net::FabricMap::back(from.out);
      // Contributions, requests and multicasts go up; requests and multicasts turn down to the others.
      if (node.parent != net::kNoLink) waits[up].insert(node.parent);
      for (const TreeNode::Child& to : node.children) {
        // To a GPU they also go back, and end there; a switch does not get its own packets back.
        if (to.node != from.node) waits[up].insert(to.out);
      }
      // Everything that comes from above goes down.
      if (node.parent != net::kNoLink) waits[net::FabricMap::back(node.parent)].insert(from.out);
    }
  }
}

/// Partial sums, writes and acknowledgements use the routes of ordinary packets.
void add_routes(const net::FabricMap& map, Waits& waits) {
  const net::Routes& routes = map.routes();
  for (int from = 0; from < map.nodes(); ++from) {
    for (int to = 0; to < map.gpus(); ++to) {
      const auto gpu = static_cast<net::NodeId>(to);
      if (from == to) continue;
      for (const net::LinkId link : routes.candidates(routes.hop(static_cast<net::NodeId>(from), gpu))) {
        const net::NodeId next = map.to(link);
        if (next == gpu) continue;
        for (const net::LinkId onward : routes.candidates(routes.hop(next, gpu))) waits[link].insert(onward);
      }
    }
  }
}

}  // namespace

std::optional<std::string> find_deadlock(const net::FabricMap& map, std::span<const Tree> trees) {
  Waits waits(map.links());
  for (const Tree& tree : trees) add_tree(tree, waits);
  add_routes(map, waits);

  struct Visit {
    net::LinkId node;
    std::optional<net::LinkId> last{};  // the successor that was returned last
  };
  const auto cycle = net::find_cycle<Visit>(waits.size(), [&](Visit& visit) -> std::optional<net::LinkId> {
    const auto& all = waits[visit.node];
    const auto next = visit.last ? all.upper_bound(*visit.last) : all.begin();
    if (next == all.end()) return std::nullopt;
    return visit.last = *next;
  });
  if (cycle->empty()) return std::nullopt;
  std::string text;
  for (const net::LinkId link : *cycle)
    text += fmt::format("{}->{}, ", map.name(map.from(link)), map.name(map.to(link)));
  return text + "and round again";
}

std::optional<std::string> find_deadlock(const net::FabricMap& map, const Regions& regions) {
  std::vector<net::NodeId> all;
  all.reserve(static_cast<std::size_t>(map.gpus()));
  for (int gpu = 0; gpu < map.gpus(); ++gpu) all.push_back(static_cast<net::NodeId>(gpu));
  std::vector<Tree> trees;
  for (std::uint16_t way = 0; way < regions.ways(); ++way) {
    if (auto tree = Tree::grow(map, all, way)) trees.push_back(std::move(*tree));
  }
  return find_deadlock(map, trees);
}

}  // namespace infold::inc
