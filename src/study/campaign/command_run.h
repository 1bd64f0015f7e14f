// A command of infold that is run for its result, as a user would type it. Who runs it, and how, is up to the
// client: the command line starts itself as a child.
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
    kStopped,  ///< from outside, or it could not be started: this says nothing about the command
  };
  End end = End::kFailed;
  int exit = 0;           ///< its exit code
  int signal = 0;         ///< that ended it; 0: none
  std::string out;        ///< its result: JSON
  std::string complaint;  ///< the first line of what it complained of
};

/// Whether a command may be run and its words make sense, as far as can be said without running it.
using CheckCommand = std::function<sim::Status(const std::vector<std::string>& words)>;
/// Called from several threads.
using RunCommand = std::function<CommandRun(const std::vector<std::string>& words)>;

/// "bench all_reduce -b 1M" as its words. Quotes hold a word together that has spaces, as in a shell: 'a b'
/// as it is, "a b" with \" and \\ for the characters themselves. A quote that does not end holds all that
/// follows.
std::vector<std::string> words_of(std::string_view command);

/// The words of a command with what makes it print its result as JSON, the same bytes on every run.
std::vector<std::string> words_for_result(std::vector<std::string> words);

}  // namespace infold::study
