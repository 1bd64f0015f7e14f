// Checks whether each step makes sense by itself: its peers exist, and its memory is there. Internal to
// coll/.
#pragma once

#include <optional>

#include "coll/program/checker.h"

namespace infold::coll {

std::optional<Flaw> find_senseless_step(const Program& program);

}  // namespace infold::coll
