// The files that a command line names, to be read or to be written, whatever the command is: no file is
// written twice, and none that is read is overwritten.
#pragma once

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "sim/result.h"
#include "study/campaign/sweep.h"

namespace CLI {
class App;
}

namespace infold::cli {

/// The options that name a file to write.
inline constexpr std::array<std::string_view, 6> kOutputs = {"--json-file", "--report", "--trace",
                                                             "--tune",      "--out",    "--workload"};

/// Where the results of a sweep go.
struct SweepResults {
  std::string database;
  std::string csv;
};
/// `out` is as typed, or empty: then the files are named after the file of the sweep.
SweepResults results_of_sweep(const std::string& out, const std::string& stem);

/// The files that the commands of a sweep read, and those that they build on.
std::set<std::string> files_read_by(const study::Sweep& sweep);

/// Refuses a command line by which one of the files that it names would be lost. Requires: it was parsed.
sim::Status check_files(const CLI::App& app);

}  // namespace infold::cli
