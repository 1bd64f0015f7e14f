// Runs infold itself as a child and catches what it prints: a command in a file is carried out exactly as
// a user would type it, and one that fails takes nothing else with it.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"

namespace infold::cli {

struct ChildResult {
  int exit = 0;    ///< its exit code; kFailed when it could not be started or was killed
  int signal = 0;  ///< that ended it
  bool started = false;
  std::string out;
  std::string err;  ///< the beginning of it
};

/// The first line of what it complained of, without the program's name.
std::string complaint_of(const ChildResult& child);

/// A file says what is run, so only what simulates and prints may be: nothing that writes a file or runs
/// further files.
sim::Status check_child(const std::vector<std::string>& words);

/// Blocks until it has ended; ends it when infold itself is interrupted or gone. Safe to call from several
/// threads.
ChildResult run_child(const std::vector<std::string>& words);

}  // namespace infold::cli
