// Puts the shape of a tree on the links of a network.
#include <algorithm>

#include "inc/regions.h"

namespace infold::inc {

std::size_t TreeNode::child(net::NodeId node) const {
  const auto at =
      std::find_if(children.begin(), children.end(), [&](const Child& c) { return c.node == node; });
  return static_cast<std::size_t>(at - children.begin());
}

std::optional<Tree> Tree::grow(int gpus, const TreeGrower& grower, std::span<const net::NodeId> members,
                               std::uint16_t way) {
  const auto shape = grower.grow(members, way);
  if (!shape) return std::nullopt;
  const auto rank = [](std::uint32_t r) { return static_cast<std::uint16_t>(r); };
  Tree tree;
  tree.gpus_ = gpus;
  for (const TreeShape::Node& n : shape->nodes) {
    TreeNode& node = tree.nodes_.emplace_back();
    node.chip = n.chip;
    if (n.parent) node.parent = *n.parent;
    for (const TreeShape::Child& c : n.children)
      node.children.push_back({c.node, c.out, rank(c.first), rank(c.members)});
    node.members = rank(n.members);
    node.first_elsewhere = rank(n.first_elsewhere);
    const auto chip = static_cast<std::size_t>(n.chip - tree.gpus_);
    if (tree.index_.size() <= chip) tree.index_.resize(chip + 1);
    tree.index_[chip] = static_cast<std::uint16_t>(tree.nodes_.size() - 1);
  }
  return tree;
}

}  // namespace infold::inc
