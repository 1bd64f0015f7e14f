// Files of published figures, `kind: validation`: the ones in the binary, or a user's own.
#pragma once

#include <string_view>
#include <vector>

#include "config/diagnostic.h"
#include "study/validation.h"

namespace infold::config {

/// All rows of all files in the binary, in the files' order. An error there is a bug that a test finds.
Result<std::vector<study::ValidationRow>> built_in_validation();

Result<std::vector<study::ValidationRow>> load_validation(std::string_view file);

}  // namespace infold::config
