// Derives groups of ranks from a blueprint.
#include "coll/algo/levels.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "coll/algo/over_nodes.h"

namespace infold::coll {

namespace {

/// The nodes that each GPU has cables to.
std::vector<std::set<int>> neighbours_of(const net::Blueprint& blueprint, std::span<const int> gpus) {
  std::vector<std::set<int>> all(static_cast<std::size_t>(blueprint.nodes()));
  for (const net::Cable& c : blueprint.cables) {
    if (blueprint.role(c.b) == net::NodeRole::kNic) continue;  // each GPU has its own
    all[net::index_of(c.a)].insert(c.b);
    all[net::index_of(c.b)].insert(c.a);
  }
  std::vector<std::set<int>> out;
  for (int gpu : gpus) out.push_back(all[static_cast<std::size_t>(gpu)]);
  return out;
}

/// Ranks by group: with switches, those below the same switches; without, those that are all joined to each
/// other.
std::vector<std::vector<int>> groups_of(const net::Blueprint& blueprint, std::span<const int> gpus) {
  const auto near = neighbours_of(blueprint, gpus);
  const bool switches = has_switches(blueprint);
  std::vector<std::vector<int>> groups;
  for (int rank = 0; rank < static_cast<int>(gpus.size()); ++rank) {
    const auto belongs = [&](const std::vector<int>& group) {
      return std::ranges::all_of(group, [&](int other) {
        const auto& theirs = near[static_cast<std::size_t>(other)];
        return switches ? near[static_cast<std::size_t>(rank)] == theirs
                        : theirs.contains(gpus[static_cast<std::size_t>(rank)]);
      });
    };
    const auto place = std::ranges::find_if(groups, belongs);
    if (place == groups.end()) {
      groups.push_back({rank});
    } else {
      place->push_back(rank);
    }
  }
  return groups;
}

Levels in_order(std::vector<int> sides, int ranks) {
  Levels levels;
  levels.sides = std::move(sides);
  levels.rank_at.resize(static_cast<std::size_t>(ranks));
  std::iota(levels.rank_at.begin(), levels.rank_at.end(), 0);
  return levels;
}

Levels near_square(int ranks) {
  int side = 1;
  for (int d = 2; d * d <= ranks; ++d) {
    if (ranks % d == 0) side = d;
  }
  Levels levels = in_order(side == 1 ? std::vector{ranks} : std::vector{ranks / side, side}, ranks);
  levels.grid = true;
  return levels;
}

/// Within nodes, and between the ranks that have the same place in each.
Levels nodes_and_rails(const NodeRanks& nodes, int ranks) {
  const std::size_t each = nodes.front().size();
  if (std::ranges::any_of(nodes, [&](const auto& node) { return node.size() != each; }))
    return in_order({ranks}, ranks);
  Levels levels;
  for (const auto& node : nodes) levels.rank_at.insert(levels.rank_at.end(), node.begin(), node.end());
  levels.sides = {static_cast<int>(each), static_cast<int>(nodes.size())};
  return levels;
}

}  // namespace

Levels find_levels(const net::Blueprint& blueprint, std::span<const int> gpus) {
  const int n = static_cast<int>(gpus.size());
  if (over_nodes(blueprint, gpus)) return nodes_and_rails(ranks_of_nodes(blueprint, gpus), n);
  if (blueprint.dims.size() == 1) return in_order({n}, n);  // a ring has only one side
  if (blueprint.dims.size() > 1) {
    if (n != blueprint.gpus) return near_square(n);
    Levels levels;
    levels.sides = blueprint.dims;
    levels.grid = true;
    for (int gpu = 0; gpu < n; ++gpu)
      levels.rank_at.push_back(static_cast<int>(std::ranges::find(gpus, gpu) - gpus.begin()));
    return levels;
  }
  const auto groups = groups_of(blueprint, gpus);
  const auto size = groups.front().size();
  if (groups.size() == 1 || size == 1) return near_square(n);
  Levels levels;
  for (const auto& group : groups) {
    if (group.size() != size) return in_order({n}, n);
    levels.rank_at.insert(levels.rank_at.end(), group.begin(), group.end());
  }
  levels.sides = {static_cast<int>(size), static_cast<int>(groups.size())};
  return levels;
}

}  // namespace infold::coll
