// How an input buffer is emptied: a chip with internal speed-up k can feed k outputs from it at once. Chips
// that can feed all of them (speed-up 0) are never busy.
#pragma once

#include "sim/units.h"

namespace infold::net {

class Drain {
 public:
  explicit Drain(int speedup)
      : unlimited_(speedup == 0), later_(speedup == 1 ? sim::Time::never() : sim::Time{}) {}

  /// When the next packet may begin to leave.
  sim::Time free_at() const { return sooner_; }
  /// A packet leaves now, and has left at `end`. Requires: free_at() is not later than now.
  void use_until(sim::Time end) {
    if (unlimited_) return;
    sooner_ = sim::min(later_, end);
    later_ = sim::max(later_, end);
  }

 private:
  bool unlimited_;    // it feeds all outputs at once
  sim::Time sooner_;  // when the first of its two ways out is free
  sim::Time later_;   // when the second is; never, where there is only one
};

}  // namespace infold::net
