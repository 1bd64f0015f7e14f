// Credits of one virtual channel: how many bytes of the far buffer the sender may still fill.
//
// The far end returns them in lots, as chips do: an answer to every packet would be traffic of its own. What
// is on its way back is kept as (time, bytes) and counted in when the sender looks: exact, and without an
// event. Invariant: held + on the way + gathered, short of a lot + in use = size of the buffer.
//
// Where all packets end at the far end, their room is given back in order of arrival, and lots are made at
// once. A chip that passes packets on gives room back in the order in which their tails leave. Its outputs
// tell of that ahead of time, and not in that order, so lots are made when the sender looks.
#pragma once

#include <cstdint>
#include <utility>

#include "sim/check.h"
#include "sim/ring_buffer.h"
#include "sim/units.h"

namespace infold::net {

/// The sender's side: bytes it may send.
class Credits {
 public:
  explicit Credits(sim::Bytes buffer) : held_(static_cast<std::int32_t>(buffer.count())) {}
  bool enough(sim::Bytes need) const { return held_ >= need.count(); }
  /// Requires: enough(n).
  void spend(sim::Bytes n) { held_ -= static_cast<std::int32_t>(n.count()); }
  void add(sim::Bytes n) { held_ += static_cast<std::int32_t>(n.count()); }
  sim::Bytes held() const { return sim::Bytes{held_}; }

 private:
  std::int32_t held_;
};

/// Room that is free at the far end, or will be, of which the sender has not heard. Times are those at the
/// far end.
class alignas(64) ReturningCredits {
 public:
  ReturningCredits() = default;
  /// So much is gathered before it is given back; 0: what is added is a lot already.
  explicit ReturningCredits(sim::Bytes lot) : lot_(static_cast<std::int32_t>(lot.count())) {}

  /// Room for `n` bytes is free from `at` on. What is free at the same time counts as one.
  [[gnu::always_inline]] void add(sim::Bytes n, sim::Time at) {
    const auto bytes = static_cast<std::int32_t>(n.count());
    pending_ += bytes;
    if (entries_.empty() || entries_.back().at < at) {
      entries_.push({at, bytes});
    } else {
      sort_in(bytes, at);
    }
  }
  /// The next add would need more memory: settle() first.
  bool full() const { return entries_.full(); }
  /// Gathers what was free before `at`. Requires: nothing more will be added for such times.
  void settle(sim::Time at) {
    while (!entries_.empty() && entries_.front().at < at) gather_first();
    if (entries_.size() * 2 > entries_.capacity()) entries_.grow();
  }
  /// The lots that are full at `at`. Requires: everything up to then has been added.
  sim::Bytes collect(sim::Time at) {
    while (!entries_.empty() && entries_.front().at <= at) gather_first();
    const sim::Bytes lots{full_lots_};
    pending_ -= full_lots_;
    full_lots_ = 0;
    return lots;
  }
  /// When the next lot will be full, as far as is known; Time::never() if none will.
  sim::Time next() {
    next_ = sim::Time::never();
    std::int32_t sum = gathered_;
    for (std::uint32_t i = 0; i < entries_.size() && next_ == sim::Time::never(); ++i) {
      sum += entries_[i].bytes;
      if (sum >= lot_) next_ = entries_[i].at;
    }
    return next_;
  }
  /// Room that is free from `at` on may fill a lot before next(), which was asked for the last time.
  bool may_be_sooner(sim::Time at) const { return at < next_ && pending_ >= lot_; }
  sim::Bytes total() const { return sim::Bytes{pending_}; }

  /// A packet waits for credits that no lot on its way brings, or not for certain: whoever frees room must
  /// see to it that the link wakes in time. (It stands here, where that one looks anyway.)
  bool waiting = false;

 private:
  struct Entry {
    sim::Time at;
    std::int32_t bytes = 0;
  };
  void gather_first() {
    gathered_ += entries_.front().bytes;
    entries_.pop();
    if (gathered_ < lot_) return;
    full_lots_ += gathered_;
    gathered_ = 0;
  }
  [[gnu::noinline]] void sort_in(std::int32_t bytes, sim::Time at) {
    std::uint32_t i = entries_.size();
    while (i > 0 && entries_[i - 1].at > at) --i;
    if (i > 0 && entries_[i - 1].at == at) {
      entries_[i - 1].bytes += bytes;
      return;
    }
    entries_.push({at, bytes});
    for (std::uint32_t j = entries_.size() - 1; j > i; --j) std::swap(entries_[j], entries_[j - 1]);
  }

  sim::RingBuffer<Entry> entries_;  // in order of time
  std::int32_t lot_ = 0;
  std::int32_t gathered_ = 0;   // out of the entries, and short of a lot
  std::int32_t full_lots_ = 0;  // out of the entries, and to be collected
  std::int32_t pending_ = 0;    // all of it
  sim::Time next_ = sim::Time::never();
};

/// The far side: what has been freed there and is not yet a lot.
class FreedSpace {
 public:
  /// A buffer is returned in that many lots.
  static constexpr std::int64_t kLots = 8;

  FreedSpace() = default;
  /// Requires: largest_packet <= buffer. What is short of a lot never keeps such a packet waiting.
  FreedSpace(sim::Bytes buffer, sim::Bytes largest_packet)
      : lot_(static_cast<std::int32_t>(sim::min(buffer / kLots, buffer - largest_packet).count())) {}

  /// `n` bytes are free from `at` on. Returns whether that makes a lot.
  bool add(sim::Bytes n, sim::Time at) {
    bytes_ += static_cast<std::int32_t>(n.count());
    at_ = sim::max(at_, at);
    return bytes_ >= lot_;
  }
  sim::Bytes bytes() const { return sim::Bytes{bytes_}; }
  sim::Bytes lot() const { return sim::Bytes{lot_}; }
  /// When all of it is free; never runs back.
  sim::Time at() const { return at_; }
  /// The same of what is free at `at` and is not gathered here.
  sim::Time in_order(sim::Time at) { return at_ = sim::max(at_, at); }
  void take() { bytes_ = 0; }

 private:
  std::int32_t bytes_ = 0;
  std::int32_t lot_ = 0;
  sim::Time at_;
};

}  // namespace infold::net
