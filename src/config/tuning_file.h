// A table of the best algorithm and protocol by size, to and from YAML.
#pragma once

#include <string>
#include <string_view>

#include "config/yaml/position.h"
#include "study/collective/choice.h"

namespace infold::config {

/// Reads and checks a file of `kind: tuning`.
sim::Result<study::TuningTable> load_tuning(std::string_view file);

/// The text that load_tuning reads back as the same table.
std::string tuning_text(const study::TuningTable& table);

}  // namespace infold::config
