// Computes the tables of tags from the figures of a GPU, and holds what is rarely called.
#include "gpu/memory/l2.h"

#include <algorithm>

namespace infold::gpu {

namespace {
/// Blocks that tables are laid out for, at most: those of 512 MiB. A larger cache is seldom full; if it is,
/// its lists get longer.
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 16;

sim::Bandwidth slices_rate(const GpuSpec& spec) {
  return sim::Bandwidth::bytes_per_s(spec.l2.slice_port.count() * spec.clock.count_hz()) * spec.l2.slices;
}
}  // namespace

L2::L2(const GpuSpec& spec)
    : pace_(slices_rate(spec)),
      capacity_(static_cast<std::uint64_t>(spec.l2.capacity.count() / spec.l2.copies)) {
  const auto blocks = std::clamp<std::uint64_t>(capacity_ / AddressSpace::kBufferBlock, 64, kMostBlocks);
  const int bits = static_cast<int>(std::bit_width(blocks * 4));
  buckets_.assign(std::size_t{1} << bits, kNone);
  shift_ = 64 - bits;
  mask_ = buckets_.size() - 1;
  lines_.reserve(blocks);
}

std::uint64_t L2::dirty_bytes() const {
  std::uint64_t sum = 0;
  for (std::uint32_t i = newest_; i != kNone; i = lines_[i].older) sum += lines_[i].dirty;
  return sum;
}

void L2::clear() {
  while (newest_ != kNone) remove(newest_);
}

}  // namespace infold::gpu
