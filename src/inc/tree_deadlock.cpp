// Collects the waits of trees and of routes, and searches for a cycle (Dally and Seitz). Between the links
// stand vertices that many waits share, so that the graph grows with the links and not with their pairs.
#include "inc/tree_deadlock.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "net/topology/cycle.h"

namespace infold::inc {

namespace {

using Vertex = std::uint32_t;

net::LinkId back(net::LinkId link) {
  return link ^ 1U;  // the other direction of the cable
}

/// The first vertices are the links.
class Waits {
 public:
  Waits(const net::Blueprint& blueprint, const net::Routes& routes, const sim::GoOn& go_on)
      : blueprint_(blueprint), routes_(routes), patience_(go_on), next_(2 * blueprint.cables.size()) {}

  void add(const TreeShape& tree) {
    for (const TreeShape::Node& node : tree.nodes) {
      const Turn turn = turn_of(node);
      if (!node.parent) continue;
      next_[turn.up].push_back(*node.parent);
      // Everything that comes from above goes down.
      next_[back(*node.parent)].push_back(turn.all_down);
    }
  }

  /// Partial sums, writes and acknowledgements use the routes of ordinary packets.
  sim::Status add_routes() {
    const net::Twins& twins = routes_.twins();
    std::map<std::pair<std::uint32_t, std::uint32_t>, Vertex> exits;  // by first candidate and count
    for (net::NodeId from = 0; from < blueprint_.nodes(); ++from) {
      for (std::uint32_t group = 0; group < twins.gpu_groups(); ++group) {
        const net::NodeId to = twins.members(group).front();
        const net::Hop hop = routes_.hop(from, to);
        if (patience_.ended_after(1 + hop.count)) return sim::interrupted();
        for (const net::LinkId link : routes_.candidates(hop)) {
          const net::NodeId next = net::link_target(blueprint_, link);
          if (next == to) continue;  // and twins pass nothing on either
          const net::Hop onward = routes_.hop(next, to);
          const auto [exit, is_new] =
              exits.try_emplace({onward.first, onward.count}, static_cast<Vertex>(next_.size()));
          if (is_new) {
            const auto links = routes_.candidates(onward);
            next_.emplace_back(links.begin(), links.end());
          }
          if (next_[link].empty() || next_[link].back() != exit->second) next_[link].push_back(exit->second);
        }
      }
    }
    return {};
  }

  sim::Status prove() {
    const auto next = [&](net::CycleVisit& visit, std::int64_t& /*steps*/) -> std::optional<Vertex> {
      const std::vector<Vertex>& all = next_[visit.vertex];
      if (visit.major == all.size()) return std::nullopt;
      return all[visit.major++];
    };
    const auto cycle = net::find_cycle(next_.size(), next, patience_);
    if (!cycle) return sim::fail_as(cycle);
    if (cycle->empty()) return {};
    std::string text = "trees of switches can deadlock: ";
    for (const Vertex v : *cycle) {
      if (v >= 2 * blueprint_.cables.size()) continue;
      text += fmt::format("{}->{}, ", net::node_name(net::link_source(blueprint_, v), blueprint_.gpus),
                          net::node_name(net::link_target(blueprint_, v), blueprint_.gpus));
    }
    return sim::fail(text + "and round again", "fabric.topology");
  }

 private:
  /// The vertices of a switch that lead on from the links of its children.
  struct Turn {
    Vertex up;        ///< contributions, requests and multicasts go up
    Vertex all_down;  ///< to every child
  };

  /// Requests and multicasts turn down from each child to all others: to those before it by a chain of
  /// vertices that ends at the first, to those behind it by one that ends at the last. (To a GPU they also go
  /// back, and end there; a switch does not get its own packets back.) Trees that have the same children at a
  /// switch share its vertices.
  Turn turn_of(const TreeShape::Node& node) {
    std::vector<net::LinkId> key;
    key.reserve(node.children.size());
    for (const TreeShape::Child& c : node.children) key.push_back(c.out);
    const auto count = static_cast<Vertex>(key.size());
    const auto [known, is_new] = turns_.try_emplace(std::move(key), static_cast<Vertex>(next_.size()));
    const Vertex before = known->second;   // before + i: to children 0 to i
    const Vertex behind = before + count;  // behind + i: to children i to the last
    const Turn turn{.up = behind + count, .all_down = behind - 1};
    if (!is_new) return turn;
    next_.resize(next_.size() + 2 * count + 1);
    for (Vertex i = 0; i < count; ++i) {
      const net::LinkId down = node.children[i].out;
      next_[before + i].push_back(down);
      next_[behind + i].push_back(down);
      std::vector<Vertex>& from_child = next_[back(down)];
      from_child.push_back(turn.up);
      if (i > 0) {
        next_[before + i].push_back(before + i - 1);
        from_child.push_back(before + i - 1);
      }
      if (i + 1 < count) {
        next_[behind + i].push_back(behind + i + 1);
        from_child.push_back(behind + i + 1);
      }
    }
    return turn;
  }

  const net::Blueprint& blueprint_;
  const net::Routes& routes_;
  sim::Patience patience_;
  std::vector<std::vector<Vertex>> next_;
  std::map<std::vector<net::LinkId>, Vertex> turns_;  // by the links down
};

}  // namespace

sim::Status prove_trees(const net::Blueprint& blueprint, const net::Routes& routes,
                        std::span<const TreeShape> trees, const sim::GoOn& go_on) {
  Waits waits(blueprint, routes, go_on);
  for (const TreeShape& tree : trees) waits.add(tree);
  if (auto ok = waits.add_routes(); !ok) return ok;
  return waits.prove();
}

sim::Status prove_trees(const net::Blueprint& blueprint, const net::Routes& routes, const sim::GoOn& go_on) {
  std::vector<net::NodeId> all(static_cast<std::size_t>(blueprint.gpus));
  std::iota(all.begin(), all.end(), 0);
  const TreeGrower grower(blueprint, routes);
  Waits waits(blueprint, routes, go_on);
  for (std::uint16_t way = 0; way < grower.ways(); ++way) {
    if (sim::asked_to_stop(go_on)) return sim::interrupted();
    if (auto tree = grower.grow(all, way)) waits.add(*tree);
  }
  if (auto ok = waits.add_routes(); !ok) return ok;
  return waits.prove();
}

}  // namespace infold::inc
