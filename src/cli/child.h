// Runs infold itself as a child process and captures what it prints. A command in a file is carried out
// exactly as a user would type it, and a command that fails does not affect the others.
#pragma once

#include <string>
#include <vector>

namespace infold::cli {

struct ChildResult {
  int exit = 0;    ///< its exit code; kFailed when it could not be started or was killed
  int signal = 0;  ///< the signal that ended it
  bool started = false;
  std::string out;
  std::string err;  ///< the beginning of its standard error
};

/// The first line of its error message, without the name of the program.
std::string complaint_of(const ChildResult& child);

/// Whether a command in a file may be run: only commands that simulate and print are allowed, none that
/// writes a file or runs further files. Returns why not, or an empty string.
std::string refuse_child(const std::vector<std::string>& words);

/// Blocks until the child has ended; ends it when infold itself is interrupted or gone. Safe to call from
/// several threads.
ChildResult run_child(const std::vector<std::string>& words);

}  // namespace infold::cli
