// The two binary trees of the tree algorithms. Internal to coll/.
#pragma once

#include <vector>

#include "coll/program/writing.h"

namespace infold::coll {

/// One rank's place in a tree.
struct TreeNode {
  int parent = -1;  ///< -1: the root
  Peers children;
  int depth = 0;  ///< hops to the root

  bool root() const { return parent < 0; }
};
/// By rank.
using Tree = std::vector<TreeNode>;

/// Two trees over the ranks such that who passes data on in one is a leaf in the other (but for at most one
/// rank), so that together they use each rank's links both ways (Sanders, Speck and Traeff 2009, as in NCCL).
struct TwoTrees {
  Tree one;
  Tree other;
  /// Hops from the deepest leaf to the root.
  int height() const;
};
/// For all-reduce, where the root may be any rank: with roots of their own.
TwoTrees two_trees(int ranks);
/// Both with the same root.
TwoTrees two_trees(int ranks, int root);

/// Channels for two trees: an even number, or one.
int tree_channels(const Request& request);

/// A step of one node on the way up: its children's values and its own, folded, go to its parent; at the root
/// they are complete.
Step step_up(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes);
/// On the way down, from the parent to the output and the children.
Step step_down(const TreeNode& node, sim::Bytes begin, sim::Bytes bytes);

}  // namespace infold::coll
