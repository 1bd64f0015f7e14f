// How much a file may hold: bounds that no honest file comes near, so that no other one costs much memory or
// time.
#pragma once

#include <cstddef>

namespace infold::config {

inline constexpr std::size_t kLongestName = 64;
/// Of a sentence or a command.
inline constexpr std::size_t kLongestLine = 256;
inline constexpr std::size_t kMostRows = 4096;

}  // namespace infold::config
