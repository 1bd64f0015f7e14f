// Whether a system as a whole makes sense: its machine can be built, its library's settings agree.
#pragma once

#include <optional>

#include "study/system_spec.h"

namespace infold::study {

/// What stands in the way and which parameter to look at, if anything does.
std::optional<sim::Refusal> check(const SystemSpec& system);

}  // namespace infold::study
