// Which switches of a multi-level tree sum: each, or only the one where all ways meet.
#pragma once

#include "inc/inc_spec.h"
#include "inc/regions.h"

namespace infold::inc {

inline bool sums_pushes(Levels policy, const TreeNode& node) {
  return policy == Levels::kEach || node.parent == nullptr;
}

/// Replies to a load-reduce are always summed at the requester's first switch.
enum class FurtherIn : std::uint8_t { kNever, kIfRoom, kAlways };

/// In rank order every switch must sum: replies that wait for their turn keep their places in the buffer of
/// a link, and one of several behind each other on it might be the one whose turn it is.
constexpr FurtherIn sums_replies_further_in(Levels policy, SumOrder order) {
  if (policy == Levels::kTop) return FurtherIn::kNever;
  return order == SumOrder::kRank ? FurtherIn::kAlways : FurtherIn::kIfRoom;
}

}  // namespace infold::inc
