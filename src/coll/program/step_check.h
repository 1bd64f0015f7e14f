// Whether each step makes sense by itself: peers that exist, memory that is there. Internal to coll/.
#pragma once

#include <optional>

#include "coll/program/checker.h"

namespace infold::coll {

std::optional<Flaw> find_senseless_step(const Program& program);

}  // namespace infold::coll
