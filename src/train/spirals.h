// Generated data that a small network can learn and a line can not: two spirals wound into each other.
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

/// So many points, half on each spiral, in an order by chance. The same on every machine: only operations
/// that IEEE 754 rounds in one way are used.
std::vector<Sample> two_spirals(std::size_t points, std::uint64_t seed);

}  // namespace infold::train
