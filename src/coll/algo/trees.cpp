// Construction of the two trees.
#include "coll/algo/trees.h"

#include <bit>
#include <functional>

namespace infold::coll {

namespace {

/// The tree in which node i is a leaf if it is odd, and otherwise lies between its two subtrees; node 0 is
/// the root and has one child. `rank_of` maps a node to its rank.
Tree in_order_tree(int n, const std::function<int(int)>& rank_of) {
  Tree tree(static_cast<std::size_t>(n));
  const auto at = [&](int node) -> TreeNode& { return tree[static_cast<std::size_t>(rank_of(node))]; };
  // Nodes that are multiples of higher powers of two are nearer to the root, so a parent comes before its
  // children.
  for (int bit = static_cast<int>(std::bit_floor(static_cast<unsigned>(n))); bit >= 1; bit /= 2) {
    for (int node = bit; node < n; node += 2 * bit) {
      // The parent has the next higher bit; if that would be beyond the last node, it is one of the nodes
      // before.
      int parent = (node ^ bit) | (2 * bit);
      if (parent >= n) parent = node ^ bit;
      at(node).parent = rank_of(parent);
      at(node).depth = at(parent).depth + 1;
      at(parent).children.add(rank_of(node));
    }
  }
  return tree;
}

}  // namespace

int TwoTrees::height() const {
  int height = 0;
  for (const Tree* tree : {&one, &other}) {
    for (const TreeNode& node : *tree) height = std::max(height, node.depth);
  }
  return height;
}

TwoTrees two_trees(int ranks) {
  // The second tree is the mirror image where that turns even into odd, and is shifted by one otherwise.
  return {in_order_tree(ranks, [](int node) { return node; }), in_order_tree(ranks, [=](int node) {
            return ranks % 2 == 0 ? ranks - 1 - node : (node + 1) % ranks;
          })};
}

TwoTrees two_trees(int ranks, int root) {
  const auto turned = [=](int node) { return (node + root) % ranks; };
  return {in_order_tree(ranks, turned),
          in_order_tree(ranks, [=](int node) { return turned(node == 0 ? 0 : 1 + node % (ranks - 1)); })};
}

int tree_channels(const Request& request) {
  const int channels = channels_for(request.tuning, request.bytes);
  return channels == 1 ? 1 : channels / 2 * 2;
}

Step step_up(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes) {
  Step s = step_at(begin, bytes);
  s.from = node.children;
  s.uses_input = true;
  if (node.root()) {
    s.writes_output = s.finishes = true;
  } else {
    s.to = {node.parent};
  }
  return s;
}

Step step_down(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes) {
  Step s = step_at(begin, bytes);
  if (!node.root()) s.from = {node.parent};
  s.to = node.children;
  s.writes_output = true;
  return s;
}

}  // namespace infold::coll
