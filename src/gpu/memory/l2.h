// L2: which blocks are present, in order of use, and the bandwidth of the slices.
//
// Tags stand for whole blocks of a tensor and know how many bytes of a block are present and how many of
// those are dirty. Bytes that are written are present without having been fetched (whole sectors are
// written). The least recently used block is evicted first. Addresses are spread finely over the slices, so
// all slices together are one queue with the sum of their rates.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/memory/tensor.h"
#include "gpu/sm/actor.h"
#include "sim/check.h"
#include "sim/pool.h"
#include "sim/units.h"

namespace infold::gpu {

class alignas(64) L2 {
 public:
  struct Line {
    std::uint64_t key : 56 = 0;
    std::uint64_t writer : 8 = 0;  ///< index of the actor that wrote the dirty bytes
    sim::Time ready;               ///< when the bytes that were fetched last have arrived
    std::uint16_t filled = 0;      ///< bytes that are present
    std::uint16_t dirty = 0;       ///< how many of those memory does not have
    std::uint32_t newer = kNone;
    std::uint32_t older = kNone;
    std::uint32_t next_in_bucket = kNone;
  };
  static_assert(sizeof(Line) == 32, "two lines to one of the host's");
  static constexpr std::uint64_t kKeyMask = (std::uint64_t{1} << 56) - 1;  ///< keys count blocks

  explicit L2(const GpuSpec& spec);

  /// When `n` bytes, if offered now, have passed the slices.
  sim::Time pass(sim::Bytes n, sim::Time now) {
    free_at_ = sim::max(free_at_, now) + pace_.time(n);
    return free_at_;
  }

  /// The line of a block, which becomes the most recently used one; a new and empty line if there was none.
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

  /// Evicts the least recently used line while L2 is too full, and passes its dirty bytes to `write_back`.
  template <class WriteBack>
  void make_room(WriteBack write_back) {
    while (occupied_ > capacity_ && oldest_ != newest_) {
      const Line line = lines_[oldest_];
      remove(oldest_);
      // The next line to be evicted was touched just now. Its hash bucket will be needed when it is evicted,
      // and then the line behind it.
      const Line& next = lines_[oldest_];
      prefetch(next.key);
      if (next.newer != kNone) __builtin_prefetch(&lines_[next.newer], 1);
      if (line.dirty > 0) write_back(line);
    }
  }

  /// Prefetches the hash bucket of a block, which will be needed soon, by use() or by an eviction. The
  /// function must be inlined: GCC drops calls to a function that only prefetches.
  [[gnu::always_inline]] void prefetch(std::uint64_t key) const {
    __builtin_prefetch(&buckets_[bucket_of(key)], 1);
  }

  /// The number of bytes that memory does not have yet.
  std::uint64_t dirty_bytes() const;
  std::uint64_t occupied() const { return occupied_; }
  std::uint64_t capacity() const { return capacity_; }
  /// Empties L2; dirty bytes are dropped.
  void clear();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  /// The least capacity that a tag takes, however few bytes it has; this bounds the number of lines.
  static constexpr std::uint32_t kLeastCharge = 512;
  static constexpr int kRunBits = 6;

  /// The capacity that a number of bytes takes.
  static constexpr std::uint32_t charge(std::uint32_t filled) {
    return filled == 0 ? 0 : filled < kLeastCharge ? kLeastCharge : filled;
  }
  /// Consecutive blocks are used one after the other, so their hash buckets are neighbours in the caches of
  /// the host too; runs of such blocks are scattered.
  std::size_t bucket_of(std::uint64_t key) const {
    return (key + ((key >> kRunBits) * 0x9e3779b97f4a7c15ULL >> shift_)) & mask_;
  }
  Line& add(std::uint64_t key);
  void remove(std::uint32_t i);
  void unlink(std::uint32_t i);
  void link_newest(std::uint32_t i);

  // An access touches one cache line, a look-up touches two.
  sim::Pace pace_;
  sim::Time free_at_;
  std::vector<std::uint32_t> buckets_;
  sim::Pool<Line> lines_;
  std::uint64_t capacity_;
  std::uint64_t occupied_ = 0;
  int shift_ = 0;
  std::size_t mask_ = 0;
  std::uint32_t newest_ = kNone;
  std::uint32_t oldest_ = kNone;
};

// The lists behind the tags: by block, and by last use. They are in the header, because a call would cost as
// much as they do.

inline L2::Line& L2::add(std::uint64_t key) {
  const std::uint32_t i = lines_.take();
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
  lines_.give_back(i);
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
