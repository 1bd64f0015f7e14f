// How far measurements of healthy machines are known to lie above what infold expects of them: the figures
// of `infold validate`.
#pragma once

#include <string_view>

#include "coll/program/names.h"
#include "sim/units.h"

namespace infold::study {

/// A measured time of up to (1 + this) times the expected one says nothing of the machine.
double known_error(std::string_view gpu, coll::Collective collective, sim::Bytes bytes);

}  // namespace infold::study
