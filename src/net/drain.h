// How an input buffer is emptied: a chip with internal speed-up k can feed k outputs from it at once.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "sim/units.h"

namespace infold::net {

class Drain {
 public:
  static constexpr int kMost = 4;
  /// Requires: 1 <= speedup <= kMost.
  explicit Drain(int speedup) {
    // Ways out that the chip does not have are busy for ever.
    std::fill(busy_until_.begin() + speedup, busy_until_.end(), sim::Time::never());
  }
  /// When the next packet may begin to leave.
  sim::Time free_at() const { return *std::min_element(busy_until_.begin(), busy_until_.end()); }
  /// Requires: free_at() is not later than now.
  void use_until(sim::Time end) { *std::min_element(busy_until_.begin(), busy_until_.end()) = end; }

 private:
  std::array<sim::Time, kMost> busy_until_{};
};

}  // namespace infold::net
