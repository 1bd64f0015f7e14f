// Generated data that a small network can learn and a linear classifier cannot: two interleaved spirals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace infold::train {

struct Sample {
  float x = 0;
  float y = 0;
  float label = 0;  ///< 1 on one spiral, -1 on the other
};

/// Generates this many points, half on each spiral, in a random order. The points are the same on every
/// machine, because only operations that IEEE 754 rounds in one way are used.
std::vector<Sample> two_spirals(std::size_t points, std::uint64_t seed);

}  // namespace infold::train
