// Hierarchical all-reduce: a ring reduce-scatter along each side of a grid of ranks in turn, each on the
// share that the one before left, then ring all-gathers back. Short rings, and between groups only what a
// group has reduced. On tori and other grids parts of the message start with different sides, so that all
// links work.
#include <algorithm>

#include "coll/levels.h"
#include "coll/ring_steps.h"

namespace infold::coll {

namespace {

/// One side of the grid as a rank sees it: who stands along it, and where itself.
struct Side {
  std::vector<int> order;
  int place = 0;
};

/// The sides through `index` in the order in which a channel takes them; every second time round the circle
/// the other way.
std::vector<Side> sides_through(const Levels& levels, int index, int channel) {
  const auto count = static_cast<int>(levels.sides.size());
  const int first = levels.grid ? channel % count : 0;
  const bool reversed = channel / (levels.grid ? count : 1) % 2 == 1;
  std::vector<Side> out;
  for (int i = 0; i < count; ++i) {
    const auto which = static_cast<std::size_t>((first + i) % count);
    int stride = 1;
    for (std::size_t s = 0; s < which; ++s) stride *= levels.sides[s];
    const int length = levels.sides[which];
    Side side;
    side.place = index / stride % length;
    for (int at = 0; at < length; ++at) {
      side.order.push_back(levels.rank_at[static_cast<std::size_t>(index + (at - side.place) * stride)]);
    }
    if (reversed) {
      std::ranges::reverse(side.order);
      side.place = length - 1 - side.place;
    }
    if (length > 1) out.push_back(std::move(side));
  }
  return out;
}

/// Reduces a window of the message along the sides from `level` on, and gathers it back.
void all_reduce(const std::vector<Side>& sides, std::size_t level, Part window, std::vector<Step>& out) {
  RingWriter w(sides[level].order, sides[level].place, out);
  const auto part = [&](int behind) { return part_of(window, w.place(behind), w.ranks()); };
  const auto share = [&](int behind) {
    const Part p = part(behind);
    return step_at(p.begin, p.end - p.begin);
  };
  const bool last = level + 1 == sides.size();
  fold_round(w, share, {.held = level > 0, .finishes = last, .pass_on = last});
  if (!last) {
    all_reduce(sides, level + 1, part(0), out);
    Step own = share(0);
    own.uses_held = true;
    own.to = {w.to()};
    w.add(own);
  }
  copy_round(w, share);
}

}  // namespace

Program write_hierarchical(const Request& request) {
  const int n = request.ranks();
  const Levels levels = find_levels(*request.fabric, request.gpus);
  Program program = blank_program(request, channels_for(request.tuning, request.bytes));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    for (int index = 0; index < n; ++index) {
      const auto sides = sides_through(levels, index, channel);
      auto& list = program.steps(levels.rank_at[static_cast<std::size_t>(index)], channel);
      // The window: a chunk for each rank of the first side.
      const auto ranks = static_cast<std::int64_t>(sides.front().order.size());
      for_pieces(part, max_chunk(request.tuning) * ranks, [&](sim::Bytes begin, sim::Bytes bytes) {
        all_reduce(sides, 0, {begin, begin + bytes}, list);
      });
    }
  }
  return program;
}

}  // namespace infold::coll
