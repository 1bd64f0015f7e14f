// Collects the waits of trees and of routes, and searches for a cycle (Dally and Seitz).
#include "inc/tree_deadlock.h"

#include <fmt/format.h>

#include <set>
#include <vector>

namespace infold::inc {

namespace {

using Waits = std::vector<std::set<net::LinkId>>;  // by link

net::LinkId back(net::LinkId link) {
  return static_cast<net::LinkId>(link ^ 1U);  // the other direction of the cable
}

void add_tree(const Tree& tree, Waits& waits) {
  for (const TreeNode& node : tree.nodes()) {
    for (const TreeNode::Child& from : node.children) {
      const net::LinkId up = back(from.out->id());
      // Contributions, requests and multicasts go up; requests and multicasts turn down to the others.
      if (node.parent != nullptr) waits[up].insert(node.parent->id());
      for (const TreeNode::Child& to : node.children) {
        // To a GPU they also go back, and end there; a switch does not get its own packets back.
        if (to.node != from.node) waits[up].insert(to.out->id());
      }
      // Everything that comes from above goes down.
      if (node.parent != nullptr) waits[back(node.parent->id())].insert(from.out->id());
    }
  }
}

/// Partial sums, writes and acknowledgements use the routes of ordinary packets.
void add_routes(const net::Network& network, Waits& waits) {
  const net::Routes& routes = network.routes();
  for (int from = 0; from < network.nodes(); ++from) {
    for (int to = 0; to < network.gpus(); ++to) {
      const auto gpu = static_cast<net::NodeId>(to);
      if (from == to) continue;
      for (const net::LinkId link : routes.candidates(routes.hop(static_cast<net::NodeId>(from), gpu))) {
        const net::NodeId next = network.link(link).to();
        if (next == gpu) continue;
        for (const net::LinkId onward : routes.candidates(routes.hop(next, gpu))) waits[link].insert(onward);
      }
    }
  }
}

}  // namespace

std::optional<std::string> find_deadlock(const net::Network& network, std::span<const Tree> trees) {
  Waits waits(network.links().size());
  for (const Tree& tree : trees) add_tree(tree, waits);
  add_routes(network, waits);

  enum class Colour : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Colour> colour(waits.size(), Colour::kNew);
  struct Visit {
    net::LinkId link;
    std::set<net::LinkId>::const_iterator next;
  };
  std::vector<Visit> path;
  const auto enter = [&](net::LinkId link) {
    colour[link] = Colour::kOnPath;
    path.push_back({link, waits[link].begin()});
  };
  for (std::size_t start = 0; start < waits.size(); ++start) {
    if (colour[start] == Colour::kNew) enter(static_cast<net::LinkId>(start));
    while (!path.empty()) {
      Visit& visit = path.back();
      if (visit.next == waits[visit.link].end()) {
        colour[visit.link] = Colour::kDone;
        path.pop_back();
        continue;
      }
      const net::LinkId next = *visit.next++;
      if (colour[next] == Colour::kOnPath) {
        std::string text;
        for (const Visit& v : path) {
          const net::Link& l = network.link(v.link);
          text += fmt::format("{}->{}, ", network.name(l.from()), network.name(l.to()));
        }
        return text + "and round again";
      }
      if (colour[next] == Colour::kNew) enter(next);
    }
  }
  return std::nullopt;
}

std::optional<std::string> find_deadlock(const net::Network& network, const Regions& regions) {
  std::vector<net::NodeId> all;
  all.reserve(static_cast<std::size_t>(network.gpus()));
  for (int gpu = 0; gpu < network.gpus(); ++gpu) all.push_back(static_cast<net::NodeId>(gpu));
  std::vector<Tree> trees;
  for (std::uint16_t way = 0; way < regions.ways(); ++way) {
    if (auto tree = Tree::grow(network, all, way)) trees.push_back(std::move(*tree));
  }
  return find_deadlock(network, trees);
}

}  // namespace infold::inc
