// A file that an option of the command line names, and that a command writes at its end.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "report/output/output_file.h"

namespace infold::cli {

/// The option that names a file to write, and the path it was given; empty if the file is not asked for.
struct OutputPlace {
  std::string_view option;
  std::string path;
};

/// For check() of CLI11, where an empty text means that the value is valid: what is wrong with the name of a
/// file to write.
std::string valid_file_name(const std::string& path);

/// Does nothing if no file was asked for.
class NamedOutput {
 public:
  explicit NamedOutput(OutputPlace place) : place_(std::move(place)) {}

  bool wanted() const { return !place_.path.empty(); }
  /// Call it before the simulation, so that a user does not wait for a file that cannot be written. Returns
  /// kDone, or the exit code after the reason was printed.
  int open();
  /// Writes everything. Returns kDone, or the exit code after the reason was printed: other files may still
  /// be written.
  int write(std::string_view text);

 private:
  OutputPlace place_;
  std::optional<report::OutputFile> file_;
};

}  // namespace infold::cli
