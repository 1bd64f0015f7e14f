// Hierarchical all-reduce: a ring reduce-scatter runs along each side of a grid of ranks in turn, each on the
// share that the previous one left, then ring all-gathers run in reverse order. Rings are short, and only
// what a group has reduced passes between groups. On tori and other grids, parts of the message start with
// different sides, so that all links work.
#include <algorithm>
#include <map>

#include "coll/algo/levels.h"
#include "coll/algo/ring_steps.h"
#include "coll/algo/rings.h"

namespace infold::coll {

namespace {

/// A line of ranks along one side of the grid, as a circle.
struct Side {
  std::vector<int> order;       ///< ranks
  std::vector<int> coordinate;  ///< of each rank along the side: which share it ends up with
  int place = 0;                ///< place of the current rank
};

/// The lines of a grid, each with the rings that its cables allow.
class Grid {
 public:
  explicit Grid(const Request& request) : levels_(find_levels(*request.fabric, request.gpus)) {
    for (std::size_t level = 0; level < levels_.sides.size(); ++level) {
      auto& lines = rings_.emplace_back();
      for (int index = 0; index < request.ranks(); ++index) {
        if (coordinate(index, level) > 0) continue;
        std::vector<int> gpus;
        for (int rank : line(index, level)) gpus.push_back(request.gpus[static_cast<std::size_t>(rank)]);
        lines[index] = find_rings(*request.fabric, gpus);
      }
    }
  }

  int rank_at(int index) const { return levels_.rank_at[static_cast<std::size_t>(index)]; }

  /// The sides through `index` in the order in which a channel uses them.
  std::vector<Side> sides_through(int index, int channel) const {
    const auto count = static_cast<int>(levels_.sides.size());
    const int first = levels_.grid ? channel % count : 0;
    const auto turn = static_cast<std::size_t>(channel / (levels_.grid ? count : 1));
    std::vector<Side> out;
    for (int i = 0; i < count; ++i) {
      const auto level = static_cast<std::size_t>((first + i) % count);
      if (levels_.sides[level] == 1) continue;
      const int here = coordinate(index, level);
      const int start = index - here * stride(level);
      const auto& rings = rings_[level].at(start);
      const std::vector<int> ranks = line(start, level);
      Side side;
      side.coordinate = rings[turn % rings.size()];
      // If there is only one ring, every second channel uses it in the other direction.
      if (rings.size() == 1 && turn % 2 == 1) std::ranges::reverse(side.coordinate);
      for (int c : side.coordinate) side.order.push_back(ranks[static_cast<std::size_t>(c)]);
      side.place = static_cast<int>(std::ranges::find(side.coordinate, here) - side.coordinate.begin());
      out.push_back(std::move(side));
    }
    return out;
  }

 private:
  int stride(std::size_t level) const {
    int stride = 1;
    for (std::size_t s = 0; s < level; ++s) stride *= levels_.sides[s];
    return stride;
  }
  int coordinate(int index, std::size_t level) const { return index / stride(level) % levels_.sides[level]; }
  /// The ranks along a side, from `start` on.
  std::vector<int> line(int start, std::size_t level) const {
    std::vector<int> ranks(static_cast<std::size_t>(levels_.sides[level]));
    for (std::size_t i = 0; i < ranks.size(); ++i)
      ranks[i] = rank_at(start + static_cast<int>(i) * stride(level));
    return ranks;
  }

  Levels levels_;
  std::vector<std::map<int, std::vector<Ring>>> rings_;  // by level, then by the first index of the line
};

/// Reduces a window of the message along the sides from `level` on, and gathers it back.
void all_reduce(const std::vector<Side>& sides, std::size_t level, Part window, std::vector<Step>& out) {
  RingWriter w(sides[level].order, sides[level].place, out);
  const auto part = [&](int behind) {
    const auto place = static_cast<std::size_t>(w.place(behind));
    return part_of(window, sides[level].coordinate[place], w.ranks());
  };
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
  const Grid grid(request);
  Program program = blank_program(request, channels_for(request.tuning, request.bytes));
  for (int channel = 0; channel < program.channels; ++channel) {
    const Part part = part_of(request.bytes, channel, program.channels);
    for (int index = 0; index < n && !stopped(request); ++index) {
      const auto sides = grid.sides_through(index, channel);
      auto& list = program.steps(grid.rank_at(index), channel);
      // A window has one chunk for each rank of the first side.
      const auto ranks = static_cast<std::int64_t>(sides.front().order.size());
      for_pieces(part, max_chunk(request.tuning) * ranks, [&](sim::Bytes begin, sim::Bytes bytes) {
        all_reduce(sides, 0, {begin, begin + bytes}, list);
      });
    }
  }
  return program;
}

}  // namespace infold::coll
