// A command of infold that is run for its result, as a user would type it. How it is run is up to the client:
// the command line starts itself as a child process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result.h"

namespace infold::study {

struct CommandRun {
  enum class End : std::uint8_t {
    kDone,
    kRefused,  ///< bad input
    kFailed,   ///< a deadlock, a wrong value, a crash
    kStopped,  ///< stopped from outside, or not started at all: this says nothing about the command
  };
  End end = End::kFailed;
  int exit = 0;           ///< its exit code
  int signal = 0;         ///< the signal that ended it; 0 if none did
  std::string out;        ///< its result: JSON
  std::string complaint;  ///< the first line that it wrote to standard error
};

/// Checks whether a command may be run and its words make sense, as far as this is possible without running
/// it.
using CheckCommand = std::function<sim::Status(const std::vector<std::string>& words)>;
/// Runs a command. It is called from several threads.
using RunCommand = std::function<CommandRun(const std::vector<std::string>& words)>;

/// Splits "bench all_reduce -b 1M" into its words. Quotes hold a word together that has spaces, as in a
/// shell: 'a b' is taken as it is, and in "a b" the characters " and \ are written \" and \\. A quote that
/// does not end holds everything that follows.
std::vector<std::string> words_of(std::string_view command);

/// The words of a command with what makes it print its result as JSON, the same bytes on every run.
std::vector<std::string> words_for_result(std::vector<std::string> words);

}  // namespace infold::study
