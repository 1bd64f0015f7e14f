// L2: which blocks are here, in order of use, and the slices' bandwidth.
//
// Tags stand for whole blocks of a tensor and know how many of a block's bytes are here and how many of those
// are dirty. What is written is here without having been fetched (whole sectors are written). The least
// recently used block leaves first. Addresses are spread finely over the slices, so all slices together are
// one queue with the sum of their rates.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"
#include "sim/check.h"
#include "sim/units.h"

namespace infold::gpu {

class alignas(64) L2 {
 public:
  struct Line {
    std::uint64_t key : 56 = 0;
    std::uint64_t writer : 8 = 0;  ///< index of the actor whose the dirty bytes are
    sim::Time ready;               ///< when what was fetched last is here
    std::uint16_t filled = 0;      ///< bytes that are here
    std::uint16_t dirty = 0;       ///< of those, bytes that memory does not have
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
    std::uint32_t next_in_bucket = kNone;
  };
  static_assert(sizeof(Line) == 32, "two lines to one of the host's");
  static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 56) - 1;  ///< keys count blocks

  explicit L2(const GpuSpec& spec);

  /// When `n` bytes offered now are through the slices.
  sim::Time pass(sim::Bytes n, sim::Time now) {
    free_at_ = sim::max(free_at_, now) + pace_.time(n);
    return free_at_;
  }

  /// The line of a block, most recently used from now on; a new and empty one if there was none.
  Line& use(std::uint64_t key) {
    std::uint32_t i = buckets_[bucket_of(key)];
    while (i != kNone && lines_[i].key != key) i = lines_[i].next_in_bucket;
    if (i == kNone) return add(key);
    if (i != newest_) {
      unlink(i);
      link_newest(i);
    }
    return lines_[i];
  }

  /// The line holds `bytes` from now on. Requires: it is the most recently used.
  void grow(Line& line, std::uint32_t bytes) {
    occupied_ += charge(bytes) - charge(line.filled);
    line.filled = static_cast<std::uint16_t>(bytes);
    INFOLD_DCHECK(line.filled == bytes, "a block has less than 64 KiB");
  }

  /// Takes out the least recently used line while there is too much; gives its dirty bytes to `write_back`.
  template <class WriteBack>
  void make_room(WriteBack write_back) {
    while (occupied_ > capacity_ && oldest_ != newest_) {
      const Line line = lines_[oldest_];
      remove(oldest_);
      // The next to leave was touched just now. Its bucket will be needed when it leaves, and then the line
      // behind it.
      const Line& next = lines_[oldest_];
      prefetch(next.key);
      if (next.newer != kNone) __builtin_prefetch(&lines_[next.newer], 1);
      if (line.dirty > 0) write_back(line);
    }
  }

  /// This block's bucket will be needed soon, by use() or because it has to leave. (Inlined by all means: GCC
  /// drops calls to a function that does nothing else.)
  [[gnu::always_inline]] void prefetch(std::uint64_t key) const {
    __builtin_prefetch(&buckets_[bucket_of(key)], 1);
  }

  /// Bytes that memory does not have yet.
  std::uint64_t dirty_bytes() const;
  std::uint64_t occupied() const { return occupied_; }
  std::uint64_t capacity() const { return capacity_; }
  /// Nothing is here any more, dirty or not.
  void clear();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// A tag has to be paid for even when little is behind it; bounds the number of lines.
  static constexpr std::uint32_t kLeastCharge = 512;
  static constexpr int kRunBits = 6;

  /// Bytes of capacity that so many take.
  static constexpr std::uint32_t charge(std::uint32_t filled) {
    return filled == 0 ? 0 : filled < kLeastCharge ? kLeastCharge : filled;
  }
  /// Blocks that follow one another are used one after the other, so their buckets are neighbours in the
  /// host's caches too; runs of them are scattered.
  std::size_t bucket_of(std::uint64_t key) const {
    return (key + ((key >> kRunBits) * 0x9e3779b97f4a7c15ULL >> shift_)) & mask_;
  }
  Line& add(std::uint64_t key);
  void remove(std::uint32_t i);
  void unlink(std::uint32_t i);
  void link_newest(std::uint32_t i);

  // An access touches one cache line, a look-up two.
  sim::Pace pace_;
  sim::Time free_at_;
  std::vector<Line> lines_;
  std::vector<std::uint32_t> buckets_;
  std::uint64_t capacity_;
  std::uint64_t occupied_ = 0;
  int shift_ = 0;
  std::size_t mask_ = 0;
  std::uint32_t newest_ = kNone;
  std::uint32_t oldest_ = kNone;
  std::uint32_t free_ = kNone;
};

// The lists behind the tags: by block, and by last use. Here, because a call would cost as much as they do.

inline L2::Line& L2::add(std::uint64_t key) {
  std::uint32_t i = free_;
  if (i == kNone) {
    i = static_cast<std::uint32_t>(lines_.size());
    lines_.emplace_back();
  } else {
    free_ = lines_[i].next_in_bucket;
  }
  std::uint32_t& bucket = buckets_[bucket_of(key)];
  lines_[i] = Line{.key = key & kKeyMask, .ready = {}, .next_in_bucket = bucket};
  bucket = i;
  link_newest(i);
  return lines_[i];
}

inline void L2::remove(std::uint32_t i) {
  Line& line = lines_[i];
  std::uint32_t* link = &buckets_[bucket_of(line.key)];
  while (*link != i) link = &lines_[*link].next_in_bucket;
  *link = line.next_in_bucket;
  unlink(i);
  occupied_ -= charge(line.filled);
  line.next_in_bucket = free_;
  free_ = i;
}

inline void L2::unlink(std::uint32_t i) {
  const Line& line = lines_[i];
  (line.newer == kNone ? newest_ : lines_[line.newer].older) = line.older;
  (line.older == kNone ? oldest_ : lines_[line.older].newer) = line.newer;
}

inline void L2::link_newest(std::uint32_t i) {
  lines_[i].newer = kNone;
  lines_[i].older = newest_;
  (newest_ == kNone ? oldest_ : lines_[newest_].newer) = i;
  newest_ = i;
}

}  // namespace infold::gpu
