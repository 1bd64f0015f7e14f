// Finds the earliest of a fixed number of times, each of which may change, by a tournament. Of two equal
// times the one with the lower number counts as earlier.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "sim/check.h"
#include "sim/units.h"

namespace infold::net {

class Earliest {
  static constexpr int kNumberBits = 5;  // bits that Time::never() leaves free

 public:
  static constexpr std::size_t kMost = std::size_t{1} << kNumberBits;

  /// All are Time::never(). Requires: count is at most kMost.
  explicit Earliest(std::size_t count) : leaves_(std::bit_ceil(count)) {
    INFOLD_CHECK(count <= kMost, "numbers fit beside the time");
    games_.fill(key_of(sim::Time::never(), kMost - 1));
  }

  void set(std::uint32_t which, sim::Time at) {
    std::size_t game = leaves_ + which;
    Key best = games_[game] = key_of(at, which);
    // The minimum of two numbers takes no branch: the winner is unpredictable, so the host would mispredict.
    // The other operands do not depend on the previous winner, so the host can load all of them at once.
    for (; game > 1; game /= 2) {
      best = std::min(best, games_[game ^ 1]);
      games_[game / 2] = best;
    }
  }
  sim::Time at() const { return sim::Time::ps(static_cast<std::int64_t>(games_[1] >> kNumberBits)); }
  /// Requires: at() is not never().
  std::uint32_t which() const { return static_cast<std::uint32_t>(games_[1] % kMost); }

 private:
  /// Time and number in one word, so that one comparison orders two entries.
  using Key = std::uint64_t;
  static_assert(sim::Time::never().count_ps() >> (64 - kNumberBits) == 0, "never() leaves room for a number");
  static Key key_of(sim::Time at, std::size_t which) {
    INFOLD_DCHECK(at <= sim::Time::never(), "nothing is later than never()");
    return static_cast<Key>(at.count_ps()) << kNumberBits | which;
  }

  alignas(64) std::array<Key, 2 * kMost> games_;  // [1] is the final; game [g] is between [2g] and [2g + 1]
  std::size_t leaves_;
};

}  // namespace infold::net
