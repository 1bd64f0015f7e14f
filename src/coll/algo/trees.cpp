// Construction of the two trees.
#include "coll/algo/trees.h"

#include <algorithm>
#include <bit>
#include <functional>

#include "coll/algo/over_nodes.h"

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

Tree tree_over_nodes(const Request& request, int channel, int channels) {
  const NodeRanks nodes = ranks_of_nodes(*request.fabric, request.gpus);
  const int rails = static_cast<int>(std::ranges::min(nodes, {}, &std::vector<int>::size).size());
  // Each rail has both trees if there are channels enough.
  const bool other = channels >= 2 * rails ? channel / rails % 2 == 1 : channel % 2 == 1;
  const bool rooted = has_root(request.collective);
  const int root_node =
      rooted ? request.fabric->node_of(request.gpus[static_cast<std::size_t>(request.root)]) : 0;
  std::vector<std::vector<int>> chains;
  int root_place = 0;
  for (const auto& ranks : nodes) {
    std::vector<int> chain = ranks;
    auto head = chain.begin() + channel % rails;
    if (rooted &&
        request.fabric->node_of(request.gpus[static_cast<std::size_t>(ranks.front())]) == root_node) {
      head = std::ranges::find(chain, request.root);
      root_place = static_cast<int>(chains.size());
    }
    std::rotate(chain.begin(), head, chain.end());
    chains.push_back(std::move(chain));
  }
  const int count = static_cast<int>(chains.size());
  const TwoTrees between = rooted ? two_trees(count, root_place) : two_trees(count);
  const Tree& heads = other ? between.other : between.one;
  Tree tree(request.gpus.size());
  for (std::size_t node = 0; node < chains.size(); ++node) {
    const std::vector<int>& chain = chains[node];
    const auto head_of = [&](int n) { return chains[static_cast<std::size_t>(n)].front(); };
    TreeNode& head = tree[static_cast<std::size_t>(chain.front())];
    head.depth = heads[node].depth;
    if (!heads[node].root()) head.parent = head_of(heads[node].parent);
    for (const int child : heads[node].children) head.children.add(head_of(child));
    for (std::size_t i = 1; i < chain.size(); ++i) {
      TreeNode& below = tree[static_cast<std::size_t>(chain[i])];
      below.parent = chain[i - 1];
      below.depth = head.depth + static_cast<int>(i);
      tree[static_cast<std::size_t>(chain[i - 1])].children.add(chain[i]);
    }
  }
  return tree;
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
