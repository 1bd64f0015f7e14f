// Builds the tree of one route: from every member up, switch by switch, until all are at the same switch.
#include <algorithm>
#include <map>

#include "inc/regions.h"

namespace infold::inc {

std::size_t TreeNode::child(net::NodeId node) const {
  const auto at =
      std::find_if(children.begin(), children.end(), [&](const Child& c) { return c.node == node; });
  return static_cast<std::size_t>(at - children.begin());
}

std::optional<Tree> Tree::grow(const net::FabricMap& map, const std::vector<net::NodeId>& members,
                               std::uint16_t way) {
  const auto gpus = static_cast<net::NodeId>(map.gpus());
  const net::Routes& routes = map.routes();
  // The switches of one level, and the ranks below each of them.
  struct Level {
    TreeNode node;
    std::vector<std::uint16_t> ranks;
  };
  std::map<net::NodeId, Level> level;
  for (std::size_t rank = 0; rank < members.size(); ++rank) {
    const net::NodeId chip = map.lane_of(members[rank], way).to;
    if (chip < gpus) return std::nullopt;  // there is no switch at this place
    Level& l = level[chip];
    const auto r = static_cast<std::uint16_t>(rank);
    l.node.children.push_back({members[rank], map.next(chip, members[rank], way), r, 1});
    l.ranks.push_back(r);
  }
  Tree tree;
  tree.gpus_ = gpus;
  for (int hops = 0; hops <= routes.diameter(); ++hops) {
    const bool root = level.size() == 1;
    std::map<net::NodeId, Level> above;
    for (auto& [chip, l] : level) {
      TreeNode& node = l.node;
      node.chip = chip;
      node.members = static_cast<std::uint16_t>(l.ranks.size());
      std::sort(node.children.begin(), node.children.end(),
                [](const auto& a, const auto& b) { return a.first < b.first; });
      if (!root) {
        // Any member that is not below this switch gives the route up.
        std::uint16_t other = 0;
        while (std::find(l.ranks.begin(), l.ranks.end(), other) != l.ranks.end()) ++other;
        node.first_elsewhere = other;
        if (routes.hop(chip, members[other]).count == 0) return std::nullopt;
        const net::LinkId up = map.next(chip, members[other], way);
        const net::NodeId parent = map.to(up);
        if (parent < gpus) return std::nullopt;
        const net::LinkId down = map.next(parent, members[node.first()], way);
        if (map.to(down) != chip) return std::nullopt;
        node.parent = up;
        Level& p = above[parent];
        p.node.children.push_back({chip, down, node.first(), node.members});
        p.ranks.insert(p.ranks.end(), l.ranks.begin(), l.ranks.end());
      }
      if (tree.index_.size() <= static_cast<std::size_t>(chip - gpus))
        tree.index_.resize(static_cast<std::size_t>(chip - gpus) + 1);
      tree.index_[static_cast<std::size_t>(chip - gpus)] = static_cast<std::uint16_t>(tree.nodes_.size());
      tree.nodes_.push_back(std::move(node));
    }
    if (root) return tree;
    level = std::move(above);
  }
  return std::nullopt;
}

}  // namespace infold::inc
