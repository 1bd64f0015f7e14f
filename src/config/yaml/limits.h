// Limits on what a file may hold. No honest file comes near them, and no other file can cost much memory or
// time.
#pragma once

#include <cstddef>

namespace infold::config {

inline constexpr std::size_t kLongestName = 64;
/// The length of a sentence or a command.
inline constexpr std::size_t kLongestLine = 256;
inline constexpr std::size_t kMostRows = 4096;

}  // namespace infold::config
