// The values of staged parts.
#include "coll/in_network/staged_region.h"

namespace infold::coll {

void StagedRegion::produce(std::uint32_t offset, std::span<std::byte> out) {
  const std::uint32_t part = offset / part_;
  if (is_flag(part)) {  // SwitchPoll knows what it says
    std::ranges::fill(out, std::byte{});
    return;
  }
  const auto at = static_cast<std::size_t>(read_at(part)) + offset % part_;
  Values& v = *context_.values;
  std::ranges::copy((reads_stage() ? v.memory(rank_) : v.input(rank_)).subspan(at, out.size()), out.begin());
}

void StagedRegion::consume(std::uint32_t offset, std::span<const std::byte> values) {
  const std::uint32_t part = offset / part_;
  if (is_flag(part)) return;
  Values& v = *context_.values;
  const auto to =
      v.memory(rank_).subspan(static_cast<std::size_t>(write_at(part)) + offset % part_, values.size());
  std::ranges::copy(values, to.begin());
  if (step_.net != NetOp::kMulticast && v.op() == ReduceOp::kAvg) divide(v.type(), to, v.ranks());
}

}  // namespace infold::coll
