// A spec as a YAML file that loads as the same spec: canonical units, every parameter written out.
#pragma once

#include <string>

#include "gpu/gpu_spec.h"
#include "study/system_spec.h"

namespace infold::config {

/// Loading the text gives the same spec. Requires: values within their ranges, no control characters.
std::string to_yaml(const study::SystemSpec& spec);
std::string to_yaml(const gpu::GpuSpec& spec);

}  // namespace infold::config
