// The double binary tree: each half of the vector is reduced up one tree and then broadcast down it, chunk
// after chunk, so that all levels work at the same time.
#include <algorithm>

#include "coll/algo/over_nodes.h"
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

void write_channel(const Request& request, int channel, const Tree& tree, Part part, sim::Bytes piece,
                   Program& program) {
  for (int rank = 0; rank < request.ranks() && !stopped(request); ++rank) {
    const TreeNode& node = tree[static_cast<std::size_t>(rank)];
    auto& list = program.steps(rank, channel);
    if (request.collective == Collective::kBarrier) barrier(node, list);
    if (reduces(request.collective)) reduce(node, part, piece, list);
    if (request.collective == Collective::kAllReduce) broadcast(node, part, piece, true, list);
    if (request.collective == Collective::kBroadcast) broadcast(node, part, piece, false, list);
  }
}

Program write_over_nodes(const Request& request) {
  Program program = blank_program(request, tree_channels(request));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Tree tree = tree_over_nodes(request, channel, program.channels);
    const int height = std::ranges::max(tree, {}, &TreeNode::depth).depth;
    const Part part = part_of(request.bytes, channel, program.channels);
    const sim::Bytes piece = pipelined_piece(request.tuning, part.end - part.begin, height);
    write_channel(request, channel, tree, part, piece, program);
  }
  return program;
}

}  // namespace

Program write_tree(const Request& request) {
  if (request.fabric != nullptr && over_nodes(*request.fabric, request.gpus))
    return write_over_nodes(request);
  const int n = request.ranks();
  const TwoTrees trees = has_root(request.collective) ? two_trees(n, request.root) : two_trees(n);
  Program program = blank_program(request, tree_channels(request));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    const sim::Bytes piece = pipelined_piece(request.tuning, part.end - part.begin, trees.height());
    write_channel(request, channel, channel % 2 == 0 ? trees.one : trees.other, part, piece, program);
  }
  return program;
}

}  // namespace infold::coll
