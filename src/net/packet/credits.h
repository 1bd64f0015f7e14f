// Credits of one virtual channel: how many bytes of the far buffer the sender may still fill.
//
// The far end returns them in lots, as chips do: an answer to every packet would be traffic of its own.
// Lots on their way back are kept as (time, bytes) and counted in when somebody looks: exact, and without
// an event. Invariant: held + on the way + gathered, short of a lot + in use = size of the buffer.
#pragma once

#include <cstdint>

#include "net/packet/ring_buffer.h"
#include "sim/check.h"
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

 public:
  /// A packet waits for credits and none is on its way: whoever sends one must wake the link.
  bool starving = false;
};

/// Lots on their way back to the sender, which looks for them when its credits are short.
class ReturningCredits {
 public:
  /// A lot will be there at `at`. Requires: not before the one announced last.
  void add(sim::Bytes n, sim::Time at) {
    INFOLD_DCHECK(lots_.empty() || lots_.back().at <= at, "lots come back in order");
    lots_.push({at, static_cast<std::int32_t>(n.count())});
  }
  /// What is there by now.
  sim::Bytes collect(sim::Time now) {
    std::int64_t sum = 0;
    for (; !lots_.empty() && lots_.front().at <= now; lots_.pop()) sum += lots_.front().bytes;
    return sim::Bytes{sum};
  }
  /// When the next lot is there; Time::never() when none is on its way.
  sim::Time next() const { return lots_.empty() ? sim::Time::never() : lots_.front().at; }
  sim::Bytes total() const {
    std::int64_t sum = 0;
    for (std::uint32_t i = 0; i < lots_.size(); ++i) sum += lots_[i].bytes;
    return sim::Bytes{sum};
  }

 private:
  struct Lot {
    sim::Time at;
    std::int32_t bytes = 0;
  };
  RingBuffer<Lot> lots_;
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
  /// When all of it is free; never runs back.
  sim::Time at() const { return at_; }
  void take() { bytes_ = 0; }

 private:
  std::int32_t bytes_ = 0;
  std::int32_t lot_ = 0;
  sim::Time at_;
};

}  // namespace infold::net
