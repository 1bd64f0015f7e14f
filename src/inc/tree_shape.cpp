// Builds the tree of one route: from every member up, switch by switch, until all are at the same switch.
#include "inc/tree_shape.h"

#include <algorithm>
#include <map>
#include <utility>

namespace infold::inc {

TreeGrower::TreeGrower(const net::Blueprint& blueprint, const net::Routes& routes)
    : blueprint_(blueprint), routes_(routes), adjacency_(blueprint) {
  // Routes differ by the lane on which they leave a GPU and, with a second stage of switches, by the link up.
  std::size_t ups = 1;
  const net::Twins& twins = routes.twins();
  for (net::NodeId chip = blueprint.gpus; chip < blueprint.nodes(); ++chip) {
    for (std::uint32_t group = 0; group < twins.gpu_groups(); ++group) {
      const net::Hop hop = routes.hop(chip, twins.members(group).front());
      if (hop.count > 0 && !blueprint.is_gpu(net::link_target(blueprint, routes.candidates(hop)[0])))
        ups = std::max<std::size_t>(ups, hop.count);
    }
  }
  ways_ = static_cast<std::uint16_t>(adjacency_.outlets(0).size() * ups);
}

std::optional<TreeShape> TreeGrower::grow(std::span<const net::NodeId> members, std::uint16_t way) const {
  // The switches of one level, and the ranks below each of them.
  struct Level {
    TreeShape::Node node;
    std::vector<std::uint32_t> ranks;
  };
  std::map<net::NodeId, Level> level;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const auto lanes = adjacency_.outlets(members[rank]);
    if (lanes.empty()) return std::nullopt;
    const net::NodeId chip = lanes[way % lanes.size()].to;
    if (blueprint_.is_gpu(chip)) return std::nullopt;  // there is no switch at this place
    Level& l = level[chip];
    const auto r = static_cast<std::uint32_t>(rank);
    l.node.children.push_back({members[rank], routes_.next(chip, members[rank], way), r, 1});
    l.ranks.push_back(r);
  }
  TreeShape tree;
  for (int hops = 0; hops <= routes_.diameter(); ++hops) {
    const bool root = level.size() == 1;
    std::map<net::NodeId, Level> above;
    for (auto& [chip, l] : level) {
      TreeShape::Node& node = l.node;
      node.chip = chip;
      node.members = static_cast<std::uint32_t>(l.ranks.size());
      std::ranges::sort(node.children, {}, &TreeShape::Child::first);
      if (!root) {
        // Any member that is not below this switch gives the route up.
        std::ranges::sort(l.ranks);
        std::uint32_t other = 0;
        while (other < l.ranks.size() && l.ranks[other] == other) ++other;
        node.first_elsewhere = other;
        if (routes_.hop(chip, members[other]).count == 0) return std::nullopt;
        const net::LinkId up = routes_.next(chip, members[other], way);
        const net::NodeId parent = net::link_target(blueprint_, up);
        if (blueprint_.is_gpu(parent)) return std::nullopt;
        const std::uint32_t first = node.children.front().first;
        const net::LinkId down = routes_.next(parent, members[first], way);
        if (net::link_target(blueprint_, down) != chip) return std::nullopt;
        node.parent = up;
        Level& p = above[parent];
        p.node.children.push_back({chip, down, first, node.members});
        p.ranks.insert(p.ranks.end(), l.ranks.begin(), l.ranks.end());
      }
      tree.nodes.push_back(std::move(node));
    }
    if (root) return tree;
    level = std::move(above);
  }
  return std::nullopt;
}

}  // namespace infold::inc
