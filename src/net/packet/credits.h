// Credits of one virtual channel: how many bytes of the far buffer the sender may still fill.
//
// The far end returns them in lots, as chips do: an answer to every packet would be traffic of its own. What
// is on its way back is kept as (time, bytes) and counted in when the sender looks, which is exact and needs
// no event. Invariant: what is held, on its way back, gathered (less than a lot) and in use adds up to the
// buffer.
//
// Where all packets end at the far end, their room is given back in order of arrival. A chip that passes
// packets on gives room back in the order in which their tails leave.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
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
///
/// The outputs of a chip tell ahead of time when room will be free, each in its own order. Most of what they
/// tell comes in order of time all the same, so lots are made at once. A log keeps what is not past yet, and
/// whatever is told out of order puts the lots behind it right. What is past is looked for when the log is
/// full, not whenever something is told.
class alignas(64) ReturningCredits {
 public:
  ReturningCredits() = default;
  /// So much is gathered before it is given back. What is added is at most `lateness` old.
  ReturningCredits(sim::Bytes lot, sim::Time lateness)
      : log_(new Told[kFirstSlots]),
        next_slot_(log_.get()),
        full_at_(log_.get() + kFirstSlots - 1),
        mask_(kFirstSlots - 1),
        lot_(static_cast<std::int32_t>(lot.count())),
        lateness_(lateness) {}

  /// Whether make_room() must be called before more is added.
  bool is_full() const { return next_slot_ == full_at_; }
  /// Forgets what is past, and makes the log longer where that is little.
  void make_room(sim::Time now) {
    if (place_of_next() > mask_) next_slot_ = log_.get();
    const sim::Time past = now - lateness_;
    std::uint32_t free = slots_before(past);
    if (free < (mask_ + 1) / 4) {
      enlarge();
      free = slots_before(past);
    }
    full_at_ = log_.get() + std::min(place_of_next() + free, mask_ + 1);
  }
  /// Room for `n` bytes is free from `at` on. Bytes that become free at the same time count as one entry.
  /// Requires: !is_full(), and at >= now - lateness.
  [[gnu::always_inline]] void add(sim::Bytes n, sim::Time at) {
    INFOLD_DCHECK(!is_full(), "the log has room");
    const auto bytes = static_cast<std::int32_t>(n.count());
    if (at <= last_) [[unlikely]] {
      sort_in(bytes, at);
      return;
    }
    last_ = at;
    gathered_ += bytes;
    if (gathered_ >= lot_) close_lot(at);
    *next_slot_++ = {at, bytes, gathered_};
  }
  /// Adds a lot that the far end has made. Requires: not before the one added last.
  void add_lot(sim::Bytes n, sim::Time at) {
    INFOLD_DCHECK(lots_.empty() || lots_.back().at <= at, "lots come back in order");
    lots_.push({at, static_cast<std::int32_t>(n.count())});
  }
  /// The lots that are full at `at`. Requires: everything up to then has been added.
  sim::Bytes collect(sim::Time at) {
    std::int64_t sum = 0;
    for (; !lots_.empty() && lots_.front().at <= at; lots_.pop()) sum += lots_.front().bytes;
    collected_ = at;
    return sim::Bytes{sum};
  }
  /// Nothing is on its way any more, and nothing gathered.
  void start_anew() {
    for (std::uint32_t i = 0; log_ != nullptr && i <= mask_; ++i) log_[i] = {};
    next_slot_ = log_.get();
    full_at_ = log_.get() + mask_;
    gathered_ = 0;
    last_ = collected_ = sim::Time::ps(-1);
    next_ = sim::Time::never();
    while (!lots_.empty()) lots_.pop();
    waiting = false;
  }
  /// When the next lot will be full, as far as is known; Time::never() if none will.
  sim::Time next() { return next_ = first_lot(); }
  /// A lot is full before next(), which was asked for the last time.
  bool is_sooner() const { return first_lot() < next_; }
  sim::Bytes total() const {
    std::int64_t sum = gathered_;
    for (std::uint32_t i = 0; i < lots_.size(); ++i) sum += lots_[i].bytes;
    return sim::Bytes{sum};
  }

  /// A packet waits for credits that no lot on its way brings, or not for certain. So what frees room must
  /// wake the link in time. (The flag stands here because what frees room looks here anyway.)
  bool waiting = false;

 private:
  static constexpr std::uint32_t kFirstSlots = 16;
  struct Lot {
    sim::Time at;
    std::int32_t bytes = 0;
  };
  struct Told {
    sim::Time at = sim::Time::ps(std::numeric_limits<std::int64_t>::min());
    std::int32_t bytes = 0;
    std::int32_t gathered = 0;  ///< with it, short of a lot
  };
  Told& slot(std::uint32_t i) { return log_[i & mask_]; }
  sim::Time first_lot() const { return lots_.empty() ? sim::Time::never() : lots_.front().at; }
  [[gnu::noinline]] void close_lot(sim::Time at) {
    lots_.push({at, gathered_});
    gathered_ = 0;
  }
  /// The result is at most mask_ + 1, which stands for the first slot.
  std::uint32_t place_of_next() const { return static_cast<std::uint32_t>(next_slot_ - log_.get()); }
  [[gnu::noinline]] void sort_in(std::int32_t bytes, sim::Time at) {
    std::uint32_t i = place_of_next();
    while (slot(i - 1).at > at) --i;
    if (slot(i - 1).at == at && at > collected_) {
      slot(--i).bytes += bytes;
    } else {
      for (std::uint32_t j = place_of_next(); j != i; --j) slot(j) = slot(j - 1);
      ++next_slot_;
      slot(i) = {at, bytes, 0};
    }
    while (!lots_.empty() && lots_.back().at >= at) lots_.pop_back();
    gathered_ = slot(i - 1).gathered;
    for (const std::uint32_t end = place_of_next(); i != end; ++i) {
      gathered_ += slot(i).bytes;
      if (gathered_ >= lot_) close_lot(slot(i).at);
      slot(i).gathered = gathered_;
    }
  }
  /// How many slots can be written, the oldest first, so that one that is past is left in front of the
  /// others.
  std::uint32_t slots_before(sim::Time past) const {
    const Told* const log = log_.get();
    const std::uint32_t second = place_of_next() + 1;
    std::uint32_t low = 0;
    for (std::uint32_t high = mask_; low < high;) {
      const std::uint32_t middle = (low + high) / 2;
      if (log[(second + middle) & mask_].at < past) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }
  /// Makes the log twice as long.
  [[gnu::cold, gnu::noinline]] void enlarge() {
    const std::uint32_t slots = mask_ + 1;
    std::unique_ptr<Told[]> log(new Told[std::size_t{2} * slots]);
    for (std::uint32_t i = 0; i < slots; ++i) log[i] = slot(place_of_next() + i);
    log_ = std::move(log);
    mask_ = 2 * slots - 1;
    next_slot_ = log_.get() + slots;
  }

  std::unique_ptr<Told[]> log_;  // a ring in order of time; what was never told is before all time
  Told* next_slot_ = nullptr;
  Told* full_at_ = nullptr;  // next_slot_ when the log is full, or at its end
  std::uint32_t mask_ = 0;
  std::int32_t lot_ = 0;
  std::int32_t gathered_ = 0;           // short of a lot
  sim::Time last_ = sim::Time::ps(-1);  // of what was told so far
  sim::Time lateness_;
  sim::Time next_ = sim::Time::never();
  sim::Time collected_ = sim::Time::ps(-1);
  sim::RingBuffer<Lot> lots_;
};

/// The side of the far end: the room that has been freed there and is not yet a lot.
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
  /// The time at which all of the room is free. It never decreases.
  sim::Time at() const { return at_; }
  /// When room that is free at `at`, and is not gathered here, may be given back in order.
  sim::Time in_order(sim::Time at) { return at_ = sim::max(at_, at); }
  void take() { bytes_ = 0; }

 private:
  std::int32_t bytes_ = 0;
  std::int32_t lot_ = 0;
  sim::Time at_;
};

}  // namespace infold::net
