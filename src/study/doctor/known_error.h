// How far measurements of healthy machines are known to lie above what infold expects of them: the figures
// of `infold validate`.
#pragma once

#include "coll/program/names.h"
#include "sim/units.h"
#include "study/system_spec.h"

namespace infold::study {

/// A measured time of up to (1 + this) times the expected one says nothing of the machine.
double known_error(const SystemSpec& system, coll::Collective collective, sim::Bytes bytes);

}  // namespace infold::study
