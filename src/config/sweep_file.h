// A sweep as its YAML file describes it: the command, what is varied, and over which values.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml/position.h"
#include "study/campaign/sweep.h"

namespace infold::config {

struct SweepFile {
  study::Sweep sweep;
  std::string shown;              ///< the file, for messages
  std::string stem;               ///< base name of its result files
  Position command_at;            ///< position of its command
  std::vector<Position> show_at;  ///< position of each column to show
  /// Position of each value of each column; the values of a range have the position of the range.
  std::map<std::string, std::vector<Position>> value_at;
};

/// By the name of a shipped sweep, or by file. Paths of parameters and their values are known to be right,
/// options are not.
sim::Result<SweepFile> load_sweep(std::string_view name_or_file);

}  // namespace infold::config
