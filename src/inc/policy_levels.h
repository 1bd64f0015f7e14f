// Which switches of a multi-level tree sum: every switch, or only the one where all routes meet.
#pragma once

#include "inc/inc_spec.h"
#include "inc/regions.h"

namespace infold::inc {

inline bool sums_pushes(Levels policy, const TreeNode& node) {
  return policy == Levels::kEach || node.parent == net::kNoLink;
}

/// Replies to a load-reduce are always summed at the first switch of the requester.
enum class FurtherIn : std::uint8_t { kNever, kIfRoom, kAlways };

/// In rank order every switch must sum: replies that wait for their turn stay in the input buffer of a link,
/// and the reply whose turn it is might be behind them on that link.
constexpr FurtherIn sums_replies_further_in(Levels policy, SumOrder order) {
  if (policy == Levels::kTop) return FurtherIn::kNever;
  return order == SumOrder::kRank ? FurtherIn::kAlways : FurtherIn::kIfRoom;
}

}  // namespace infold::inc
