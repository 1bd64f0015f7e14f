// Credits of one virtual channel: how many bytes of the far buffer the sender may still fill.
//
// The far end returns them in lots, as chips do: an answer to every packet would be traffic of its own.
// Lots on their way back are kept as (time, bytes) and counted in when somebody looks: exact, and without
// an event. Invariant: held + on the way + gathered, short of a lot + in use = size of the buffer.
#pragma once

#include <cstdint>

#include "net/ring_buffer.h"
#include "sim/check.h"
#include "sim/units.h"

namespace infold::net {

/// The sender's side.
class Credits {
 public:
  explicit Credits(sim::Bytes buffer) : held_(static_cast<std::int32_t>(buffer.count())) {}

  /// Whether `need` bytes may be sent now; counts in what has come back by then.
  bool enough(sim::Bytes need, sim::Time now) {
    if (held_ >= need.count()) return true;
    collect(now);
    return held_ >= need.count();
  }
  /// Requires: enough(n).
  void spend(sim::Bytes n) { held_ -= static_cast<std::int32_t>(n.count()); }

  /// A lot will be here at `at`. Requires: not before the one announced last.
  void coming(sim::Bytes n, sim::Time at) {
    INFOLD_DCHECK(returns_.empty() || returns_.back().at <= at, "lots come back in order");
    returns_.push({at, static_cast<std::int32_t>(n.count())});
  }
  /// When the next lot comes back; Time::never() when none is on its way.
  sim::Time next() const { return returns_.empty() ? sim::Time::never() : returns_.front().at; }

  /// Held or on the way.
  sim::Bytes home() const {
    std::int64_t sum = held_;
    for (std::uint32_t i = 0; i < returns_.size(); ++i) sum += returns_[i].bytes;
    return sim::Bytes{sum};
  }

 private:
  struct Return {
    sim::Time at;
    std::int32_t bytes = 0;
  };
  void collect(sim::Time now) {
    while (!returns_.empty() && returns_.front().at <= now) {
      held_ += returns_.front().bytes;
      returns_.pop();
    }
  }

  RingBuffer<Return> returns_;
  std::int32_t held_;

 public:
  /// A packet waits for credits and none is on its way: whoever sends one must wake the link.
  bool starving = false;
};

/// The far side: what has been freed there and is not yet a lot.
class FreedSpace {
 public:
  /// A buffer is returned in that many lots.
  static constexpr std::int64_t kLots = 16;

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
