// A file that an option of the command line names, and that a command writes when it is through.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/output/output_file.h"

namespace infold::cli {

/// What stands on the command line for a file to write, and where that is; empty: not asked for.
struct OutputPlace {
  std::string_view option;
  std::string path;
};
/// For CLI11's check(): what is wrong with it as a file to write, as far as its name says.
std::string refuse_no_name(const std::string& path);

/// Does nothing if no file was asked for.
class NamedOutput {
 public:
  explicit NamedOutput(OutputPlace place) : place_(std::move(place)) {}

  bool wanted() const { return !place_.path.empty(); }
  /// Before the simulation, so that nobody waits for a file that can not be written. kDone, or the exit code
  /// when it has been said why not.
  int open();
  /// All of it. kDone, or the exit code when it has been said why not: others may still be written.
  int write(std::string_view text);

 private:
  OutputPlace place_;
  std::optional<report::OutputFile> file_;
};

}  // namespace infold::cli
