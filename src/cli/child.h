// Runs infold itself as a child and catches what it prints: a command in a file is carried out exactly as
// a user would type it, and one that fails takes nothing else with it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace infold::cli {

struct ChildResult {
  int exit = 0;  ///< its exit code; kFailed when it could not be started or was killed
  std::string out;
  std::string err;  ///< the beginning of it
};

/// "bench all_reduce -b 1M" as its words. No quoting: no argument of infold needs a space.
std::vector<std::string> words_of(std::string_view command);

/// Blocks until it has ended; ends it when infold itself is interrupted. Safe to call from several threads.
ChildResult run_child(const std::vector<std::string>& words);

}  // namespace infold::cli
