// C-Cube (Jo, Son and Kim, HPCA 2023): reduction and broadcast of the double binary tree use each link in
// opposite directions, so the broadcast of a chunk starts as soon as that chunk is reduced.
#include "coll/algo/trees.h"

namespace infold::coll {

namespace {

/// How many chunks a rank sends up before it waits for the first to come down. The further ahead, the less it
/// waits. But each level may be ahead of the one above by less than the buffers between them hold, up and
/// down; otherwise both would wait for room.
std::size_t lead_of(const TreeNode& node, const Tuning& t) {
  const int chunks_in_buffer = std::max(1, buffer_slots(t) / t.slices_per_chunk);
  return static_cast<std::size_t>(node.depth * (2 * chunks_in_buffer - 1));
}

}  // namespace

Program write_ccube(const Request& request) {
  const int n = request.ranks();
  const TwoTrees trees = two_trees(n);
  Program program = blank_program(request, tree_channels(request));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    const sim::Bytes piece = pipelined_piece(request.tuning, part.end - part.begin, 2 * trees.height());
    for (int rank = 0; rank < n && !stopped(request); ++rank) {
      const Tree& tree = channel % 2 == 0 ? trees.one : trees.other;
      const TreeNode& node = tree[static_cast<std::size_t>(rank)];
      std::vector<Step> up;
      std::vector<Step> down;
      for_pieces(part, piece, [&](sim::Bytes begin, sim::Bytes bytes) {
        up.push_back(step_up(node, begin, bytes));
        down.push_back(step_down(node, begin, bytes));
      });
      auto& list = program.steps(rank, channel);
      if (node.root()) {
        // Up and down meet in one step: a complete chunk goes down at once.
        for (Step& s : up) {
          s.to = node.children;
          add(list, s);
        }
        continue;
      }
      const std::size_t lead = lead_of(node, request.tuning);
      for (std::size_t i = 0; i < up.size() + lead; ++i) {
        if (i < up.size()) add(list, up[i]);
        if (i >= lead) add(list, down[i - lead]);
      }
    }
  }
  return program;
}

}  // namespace infold::coll
