// The earliest of a fixed number of times, each of which may change: a tournament. Where two are equal the
// one with the lower number counts as earlier.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/units.h"

namespace infold::gpu {

class Earliest {
 public:
  /// All are Time::never().
  explicit Earliest(std::size_t count) : leaves_(std::bit_ceil(count)), games_(2 * leaves_) {
    for (std::size_t i = 0; i < leaves_; ++i) games_[leaves_ + i].which = static_cast<std::uint32_t>(i);
  }

  void set(std::uint32_t which, sim::Time at) {
    std::size_t game = leaves_ + which;
    auto best = static_cast<std::uint64_t>(at.count_ps());
    games_[game].at = at;
    // Arithmetic and no condition: who wins is anybody's guess, which the host had better not try. The others
    // do not depend on who won before, so the host can have them all at once. An odd game is the right one of
    // two, which wins only if it is earlier.
    for (; game > 1; game /= 2) {
      const Winner& other = games_[game ^ 1];
      const auto theirs = static_cast<std::uint64_t>(other.at.count_ps());
      const std::uint64_t take = 0 - static_cast<std::uint64_t>(theirs < best + (game & 1));
      best ^= (best ^ theirs) & take;
      which ^= (which ^ other.which) & static_cast<std::uint32_t>(take);
      games_[game / 2] = {sim::Time::ps(static_cast<std::int64_t>(best)), which};
    }
  }
  sim::Time at() const { return games_[1].at; }
  /// Requires: at() is not never().
  std::uint32_t which() const { return games_[1].which; }

 private:
  struct Winner {
    sim::Time at = sim::Time::never();
    std::uint32_t which = 0;
  };
  std::size_t leaves_;
  std::vector<Winner> games_;  // [1] is the final, [g] is played between [2g] and [2g + 1]
};

}  // namespace infold::gpu
