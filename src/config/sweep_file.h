// A sweep as its YAML file describes it: the command, and what of it is varied over which values.
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
  std::string stem;               ///< what to call its results
  Position command_at;            ///< where its command stands
  std::vector<Position> show_at;  ///< where each column to show stands
  /// Where each value of each column stands; those of a range stand where the range does.
  std::map<std::string, std::vector<Position>> value_at;
};

/// By the name of a shipped sweep, or by file. Paths of parameters and their values are known to be right,
/// options are not.
sim::Result<SweepFile> load_sweep(std::string_view name_or_file);

}  // namespace infold::config
