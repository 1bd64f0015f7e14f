// `--set path=value` changes one parameter of a system after its file was read. Types, ranges and suggestions
// are the same as in a file; a plain number of bytes needs no unit here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "sim/result.h"
#include "study/system_spec.h"

namespace infold::config {

/// Applies "gpu.hbm.bandwidth=3TB/s"; lists are written [5,4,4,5] or 5,4,4,5. An error ("--set: fabric.planes
/// must be ...") leaves the spec unchanged.
sim::Status apply_override(study::SystemSpec& spec, std::string_view assignment);

/// Applies all of them in order, up to the first that is wrong. A parameter that the topology has no use for
/// in the end is wrong, too (config/unused_parameters).
sim::Status apply_overrides(study::SystemSpec& spec, std::span<const std::string> assignments);

}  // namespace infold::config
