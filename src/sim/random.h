// Seeded random numbers (SplitMix64): the same on every machine, no global state.
#pragma once

#include <cstdint>

namespace infold::sim {

/// A good 64-bit hash of a number, which is also used to derive independent values from an index.
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() { return mix(state_++); }
  /// Uniform in 0 .. n-1. Requires: n > 0.
  constexpr std::uint64_t below(std::uint64_t n) { return next() % n; }

 private:
  std::uint64_t state_;
};

}  // namespace infold::sim
