// Files of published figures, `kind: validation`: the ones in the binary, or a user's own.
#pragma once

#include <string_view>

#include "config/yaml/position.h"
#include "study/validation.h"

namespace infold::config {

/// All that stands in all files in the binary. An error there is a bug that a test finds.
sim::Result<study::Validation> built_in_validation();

sim::Result<study::Validation> load_validation(std::string_view file);

}  // namespace infold::config
