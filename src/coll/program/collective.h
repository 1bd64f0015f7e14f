// The collective operations, and what each does to sizes.
#pragma once

#include "coll/program/names.h"
#include "sim/units.h"

namespace infold::coll {

/// Whether several inputs become one, so that an operator has a meaning.
constexpr bool reduces(Collective c) {
  return c == Collective::kAllReduce || c == Collective::kReduceScatter || c == Collective::kReduce ||
         c == Collective::kCombine;
}
/// Whether one rank differs from the others.
constexpr bool has_root(Collective c) {
  return c == Collective::kBroadcast || c == Collective::kReduce || c == Collective::kSend;
}
/// Who gets what the root sends.
constexpr int receiver_of(int root, int ranks) {
  return (root + 1) % ranks;
}
/// Whether the message is made of one share per rank, so that its size is a multiple of the number of ranks.
constexpr bool has_shares(Collective c) {
  return c == Collective::kReduceScatter || c == Collective::kAllGather || c == Collective::kAllToAll ||
         c == Collective::kDispatch || c == Collective::kCombine;
}

/// The sizes of one rank's buffers. `bytes` is what nccl-tests calls size: the larger of the two.
struct BufferSizes {
  sim::Bytes input;
  sim::Bytes output;
};
constexpr BufferSizes buffer_sizes(Collective c, sim::Bytes bytes, int ranks) {
  switch (c) {
    case Collective::kAllReduce:
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kAllToAll:
    case Collective::kSend:
    case Collective::kSendRecv:
      return {bytes, bytes};
    case Collective::kReduceScatter:
    case Collective::kCombine:
      return {bytes, bytes / ranks};
    case Collective::kAllGather:
    case Collective::kDispatch:
      return {bytes / ranks, bytes};
    case Collective::kBarrier:
      return {};
  }
  return {};
}

/// busbw is algbw times this factor: the share of the vector that must cross a rank's link, as nccl-tests
/// counts.
constexpr double bus_factor(Collective c, int ranks, int fan_out = 0) {
  const double others = static_cast<double>(ranks - 1) / static_cast<double>(ranks);
  switch (c) {
    case Collective::kAllReduce:
      return 2 * others;
    case Collective::kReduceScatter:
    case Collective::kAllGather:
    case Collective::kAllToAll:
      return others;
    case Collective::kBroadcast:
    case Collective::kReduce:
    case Collective::kSend:
    case Collective::kSendRecv:
      return ranks > 1 ? 1 : 0;
    case Collective::kDispatch:
    case Collective::kCombine:  // of every token a rank sends or gets so many copies, but for its own
      return others * (fan_out == 0 || fan_out > ranks ? 1 : static_cast<double>(fan_out) / ranks);
    case Collective::kBarrier:
      return 0;
  }
  return 0;
}

}  // namespace infold::coll
