// The two binary trees of the tree algorithms. Internal to coll/.
#pragma once

#include <vector>

#include "coll/program/writing.h"

namespace infold::coll {

/// The place of one rank in a tree.
struct TreeNode {
  int parent = -1;  ///< -1 for the root
  Peers children;
  int depth = 0;  ///< hops to the root

  bool root() const { return parent < 0; }
};
/// Indexed by rank.
using Tree = std::vector<TreeNode>;

/// Two trees over the ranks such that a rank that passes data on in one is a leaf in the other (except for at
/// most one rank), so that together they use the links of each rank in both directions (Sanders, Speck and
/// Traeff 2009, as in NCCL).
struct TwoTrees {
  Tree one;
  Tree other;
  /// The number of hops from the deepest leaf to the root.
  int height() const;
};
/// For all-reduce, where the root may be any rank: each tree has its own root.
TwoTrees two_trees(int ranks);
/// Both trees have the same root.
TwoTrees two_trees(int ranks, int root);

/// The trees of a channel over nodes: the ranks of each node are a chain below a head, which is the rank at
/// the channel's rail, and the heads are joined as above. A root is the head of its node.
Tree tree_over_nodes(const Request& request, int channel, int channels);

/// The number of channels for two trees: an even number, or one.
int tree_channels(const Request& request);

/// A step of one node on the way up: the values of its children and its own are folded and go to its parent;
/// at the root they are complete.
Step step_up(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes);
/// A step on the way down, from the parent to the output and the children.
Step step_down(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes);

}  // namespace infold::coll
