// Where what is written to a path ends up: a link stays, and the file it leads to is written.
#pragma once

#include <filesystem>

namespace infold::sim {

/// The file that a path leads to, through all links, whether it is there yet or not; the path itself where
/// that can not be said.
std::filesystem::path file_behind(const std::filesystem::path& path);

}  // namespace infold::sim
