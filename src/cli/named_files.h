// The files that a command line names, to be read or to be written, whatever the command is: no file is
// written twice, and none that is read is overwritten.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "study/campaign/sweep.h"

namespace CLI {
class App;
}

namespace infold::cli {

/// The options that name a file to write.
inline constexpr std::array<std::string_view, 4> kOutputs = {"--json-file", "--report", "--trace", "--tune"};

/// Where the results of a sweep go.
struct SweepResults {
  std::string database;
  std::string csv;
};
/// `out` is as typed, or empty: then the files are named after the file of the sweep.
SweepResults results_of_sweep(const std::string& out, const std::string& stem);

/// The files that the commands of a sweep read, and those that they build on.
std::set<std::string> files_read_by(const study::Sweep& sweep);

/// Which of the files that a command line names would be lost, in one line; otherwise empty. Requires: the
/// command line was parsed.
std::string refuse_same_file(const CLI::App& app);

}  // namespace infold::cli
