// The double binary tree: each half of the vector is reduced up one tree and then broadcast down it, chunk
// after chunk, so that all levels work at the same time.
#include "coll/algo/trees.h"

namespace infold::coll {

namespace {

/// Sends from the input of the root, or from what it holds, to every output.
void broadcast(const TreeNode& node, Part part, sim::Bytes piece, bool held, std::vector<Step>& out) {
  for_pieces(part, piece, [&](sim::Bytes begin, sim::Bytes bytes) {
    Step s = step_down(node, begin, bytes);
    if (node.root()) {
      (held ? s.uses_held : s.uses_input) = true;
      s.writes_output = !held;
    }
    add(out, s);
  });
}

void reduce(const TreeNode& node, Part part, sim::Bytes piece, std::vector<Step>& out) {
  for_pieces(part, piece, [&](sim::Bytes begin, sim::Bytes bytes) { add(out, step_up(node, begin, bytes)); });
}

void barrier(const TreeNode& node, std::vector<Step>& out) {
  const Peers parent = node.root() ? Peers{} : Peers{node.parent};
  if (!node.children.empty()) add_flag(out, node.children, {});
  if (!node.root()) add_flag(out, {}, parent);
  if (!node.root()) add_flag(out, parent, {});
  if (!node.children.empty()) add_flag(out, {}, node.children);
}

}  // namespace

Program write_tree(const Request& request) {
  const int n = request.ranks();
  const TwoTrees trees = has_root(request.collective) ? two_trees(n, request.root) : two_trees(n);
  Program program = blank_program(request, tree_channels(request));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    const sim::Bytes piece = pipelined_piece(request.tuning, part.end - part.begin, trees.height());
    for (int rank = 0; rank < n && !stopped(request); ++rank) {
      const Tree& tree = channel % 2 == 0 ? trees.one : trees.other;
      const TreeNode& node = tree[static_cast<std::size_t>(rank)];
      auto& list = program.steps(rank, channel);
      if (request.collective == Collective::kBarrier) barrier(node, list);
      if (reduces(request.collective)) reduce(node, part, piece, list);
      if (request.collective == Collective::kAllReduce) broadcast(node, part, piece, true, list);
      if (request.collective == Collective::kBroadcast) broadcast(node, part, piece, false, list);
    }
  }
  return program;
}

}  // namespace infold::coll
