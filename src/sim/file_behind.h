// The file that is written when a path is written: a link stays, and the file it leads to is written.
#pragma once

#include <filesystem>

namespace infold::sim {

/// The file that a path leads to, through all links, whether that file exists yet or not. Returns the path
/// itself where this cannot be determined.
std::filesystem::path file_behind(const std::filesystem::path& path);

}  // namespace infold::sim
