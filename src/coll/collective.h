// The collective operations, and what each does to sizes.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::coll {

enum class Collective : std::uint8_t { kAllReduce, kReduceScatter, kAllGather };

inline constexpr std::array kCollectiveNames = {
    sim::Named{Collective::kAllReduce, "all_reduce", "every rank gets the reduction of all ranks' vectors"},
    sim::Named{Collective::kReduceScatter, "reduce_scatter", "every rank gets its share of the reduction"},
    sim::Named{Collective::kAllGather, "all_gather", "every rank gets the shares of all ranks"},
};
constexpr std::span<const sim::Named<Collective>> names_of(Collective) {
  return kCollectiveNames;
}

/// The sizes of one rank's buffers. `bytes` is what nccl-tests calls size: the larger of the two.
struct BufferSizes {
  sim::Bytes input;
  sim::Bytes output;
};
constexpr BufferSizes buffer_sizes(Collective c, sim::Bytes bytes, int ranks) {
  switch (c) {
    case Collective::kAllReduce:
      return {bytes, bytes};
    case Collective::kReduceScatter:
      return {bytes, bytes / ranks};
    case Collective::kAllGather:
      return {bytes / ranks, bytes};
  }
  return {};
}

/// busbw = algbw times this: the share of the vector that must cross a rank's link, as nccl-tests counts.
constexpr double bus_factor(Collective c, int ranks) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  return c == Collective::kAllReduce ? 2 * others : others;
}

}  // namespace infold::coll
