// Credits of one virtual channel: how many bytes of the far buffer the sender may still fill.
//
// Credits on their way back are kept as (time, bytes) and counted in when somebody looks: exact, and
// without an event a credit. Invariant: held + on the way + in use = size of the buffer.
#pragma once

#include <cstdint>
#include <utility>

#include "net/ring_buffer.h"
#include "sim/units.h"

namespace infold::net {

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

  /// `n` bytes of the far buffer will be known free at `at`, which is now or later.
  void coming(sim::Bytes n, sim::Time at, sim::Time now) {
    if (returns_.full()) collect(now);
    const bool late = !returns_.empty() && returns_.back().at > at;
    returns_.push({at, static_cast<std::int32_t>(n.count())});
    if (!late) return;
    // Packets leave a buffer by several outputs, so returns are nearly, not quite, in order.
    for (std::uint32_t i = returns_.size() - 1; i > 0 && returns_[i - 1].at > at; --i) {
      std::swap(returns_[i - 1], returns_[i]);
    }
  }

  /// When the next credit comes back; Time::never() when none is on its way.
  sim::Time next() const { return returns_.empty() ? sim::Time::never() : returns_.front().at; }

  /// Everything held or on its way: equals the buffer's size when nothing is in use.
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

}  // namespace infold::net
