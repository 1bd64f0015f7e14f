// Finds the blocks that tiles need.
#include "gpu/memory/operand.h"

#include <algorithm>

namespace infold::gpu {

void Operand::prepare(std::int64_t outer, std::int64_t extent, std::int64_t& from, std::int64_t& to) const {
  if (kind_ != Kind::kPatches) return;
  from = window_.pixel(outer);
  to = window_.pixel(outer + extent - 1);
}

sim::Time Operand::read(MemorySystem& memory, Actor actor, std::int64_t outer, std::int64_t extent,
                        std::int64_t k, std::int64_t depth, std::int64_t from, std::int64_t to, int part,
                        int parts, sim::Time now) const {
  switch (kind_) {
    case Kind::kRows:
      return read_rect(memory, actor, {outer, extent, k, depth}, {}, part, parts, now);
    case Kind::kCols:
      return read_rect(memory, actor, {k, depth, outer, extent}, {}, part, parts, now);
    case Kind::kPatches:
      return read_patch(memory, actor, from, to, k, depth, part, parts, now);
    case Kind::kPatchesAcross:
      return read_patch(memory, actor, window_.pixel(k), window_.pixel(k + depth - 1), outer, extent, part,
                        parts, now);
    case Kind::kFilterAcross: {
      const std::int64_t tap = k / tensor_.rows();
      return read_rect(memory, actor, {k % tensor_.rows(), depth, tap * window_.channels + outer, extent}, {},
                       part, parts, now);
    }
  }
  return now;
}

/// `from` and `to` are pixels under the first tap; `minor` counts taps x channels.
sim::Time Operand::read_patch(MemorySystem& memory, Actor actor, std::int64_t from, std::int64_t to,
                              std::int64_t minor, std::int64_t minor_extent, int part, int parts,
                              sim::Time now) const {
  const Window& w = window_;
  // Every tap of a large filter sees other pixels of a strided image; a single tap never sees most of them.
  const std::int64_t skipped = w.stride * w.stride;
  const Density density{.read = skipped, .fetched = w.taps >= skipped ? 1 : skipped / w.taps};
  const auto shift = [&](std::int64_t tap) { return tap / w.taps_across * w.width + tap % w.taps_across; };
  const std::int64_t last = std::min(minor + minor_extent, w.taps * w.channels) - 1;
  const std::int64_t first_tap = minor / w.channels;
  const std::int64_t last_tap = last / w.channels;
  if (first_tap == last_tap) {
    return read_rect(memory, actor,
                     {from + shift(first_tap), to - from + 1, minor % w.channels, last - minor + 1}, density,
                     part, parts, now);
  }
  if (w.channels <= tensor_.block_cols()) {
    // If one slab has several taps, they are neighbours, so one patch contains all of them.
    return read_rect(
        memory, actor,
        {from + shift(first_tap), to - from + 1 + shift(last_tap) - shift(first_tap), 0, w.channels}, density,
        part, parts, now);
  }
  sim::Time ready = now;
  for (std::int64_t tap = first_tap; tap <= last_tap; ++tap) {
    const std::int64_t begin = std::max(minor, tap * w.channels);
    const std::int64_t end = std::min(last + 1, (tap + 1) * w.channels);
    ready =
        sim::max(ready, read_rect(memory, actor,
                                  {from + shift(tap), to - from + 1, begin - tap * w.channels, end - begin},
                                  density, part, parts, now));
  }
  return ready;
}

sim::Time Operand::read_rect(MemorySystem& memory, Actor actor, const Rect& r, const Density& density,
                             int part, int parts, sim::Time now) const {
  const std::int64_t row_end = std::min(r.row + r.rows, tensor_.rows());
  const std::int64_t col_end = std::min(r.col + r.cols, tensor_.cols());
  const std::int64_t row_begin = std::max<std::int64_t>(r.row, 0);
  const std::int64_t bh = tensor_.block_rows();
  const std::int64_t bw = tensor_.block_cols();
  sim::Time ready = now;
  if (row_begin >= row_end || r.col >= col_end) return ready;  // padding
  int turn = part;
  const std::int64_t last_i = tensor_.down_of(row_end - 1);
  const std::int64_t last_j = tensor_.across_of(col_end - 1);
  for (std::int64_t i = tensor_.down_of(row_begin); i <= last_i; ++i) {
    const std::int64_t rows = std::min(row_end, (i + 1) * bh) - std::max(row_begin, i * bh);
    for (std::int64_t j = tensor_.across_of(r.col); j <= last_j; ++j) {
      if (turn++ % parts != 0) continue;
      const std::int64_t cols = std::min(col_end, (j + 1) * bw) - std::max(r.col, j * bw);
      const Block block = tensor_.at(i, j);
      const auto n = static_cast<std::uint32_t>(rows * cols * tensor_.element_bytes() / density.read);
      const auto need = static_cast<std::uint32_t>(block.bytes / density.fetched);
      ready = sim::max(ready, memory.read(actor, block, n, std::max(n, need), now));
    }
  }
  return ready;
}

}  // namespace infold::gpu
