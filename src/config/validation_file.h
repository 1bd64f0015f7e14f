// Files of published figures, `kind: validation`: the ones in the binary, or a user's own.
#pragma once

#include <string_view>

#include "config/yaml/diagnostic.h"
#include "study/validation.h"

namespace infold::config {

/// Everything in all embedded files. An error there is a bug that a test finds.
Result<study::Validation> built_in_validation();

Result<study::Validation> load_validation(std::string_view file);

}  // namespace infold::config
