// A model as a YAML file that loads as the same layers.
#pragma once

#include <string>

#include "train/model.h"

namespace infold::config {

/// Requires: no control characters in name, summary and sources. The blocks of the model become blocks of the
/// file.
std::string to_yaml(const train::Model& model);

}  // namespace infold::config
