// The lists behind L2's tags: by block, and by last use.
#include "gpu/l2.h"

#include <algorithm>

namespace infold::gpu {

namespace {
sim::Bandwidth slices_rate(const GpuSpec& spec) {
  return sim::Bandwidth::bytes_per_s(spec.l2.slice_port.count() * spec.clock.count_hz()) * spec.l2.slices;
}
}  // namespace

L2::L2(const GpuSpec& spec)
    : pace_(slices_rate(spec)),
      capacity_(static_cast<std::uint64_t>(spec.l2.capacity.count() / spec.l2.copies)) {
  const auto blocks = std::max<std::uint64_t>(capacity_ / AddressSpace::kBufferBlock, 64);
  const int bits = static_cast<int>(std::bit_width(blocks * 4));
  buckets_.assign(std::size_t{1} << bits, kNone);
  shift_ = 64 - bits;
  mask_ = buckets_.size() - 1;
  lines_.reserve(blocks);
}

L2::Line& L2::add(std::uint64_t key) {
  std::uint32_t i = free_;
  if (i == kNone) {
    i = static_cast<std::uint32_t>(lines_.size());
    lines_.emplace_back();
  } else {
    free_ = lines_[i].next_in_bucket;
  }
  std::uint32_t& bucket = buckets_[bucket_of(key)];
  lines_[i] = Line{.key = key & L2::kKeyMask, .ready = {}, .next_in_bucket = bucket};
  bucket = i;
  link_newest(i);
  return lines_[i];
}

void L2::remove(std::uint32_t i) {
  Line& line = lines_[i];
  std::uint32_t* link = &buckets_[bucket_of(line.key)];
  while (*link != i) link = &lines_[*link].next_in_bucket;
  *link = line.next_in_bucket;
  unlink(i);
  occupied_ -= charge(line.filled);
  line.next_in_bucket = free_;
  free_ = i;
}

void L2::unlink(std::uint32_t i) {
  const Line& line = lines_[i];
  (line.newer == kNone ? newest_ : lines_[line.newer].older) = line.older;
  (line.older == kNone ? oldest_ : lines_[line.older].newer) = line.newer;
}

void L2::link_newest(std::uint32_t i) {
  lines_[i].newer = kNone;
  lines_[i].older = newest_;
  (newest_ == kNone ? oldest_ : lines_[newest_].newer) = i;
  newest_ = i;
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
