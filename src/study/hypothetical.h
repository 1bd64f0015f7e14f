// Whether the switches of a machine can do what an algorithm asks of them. What no such machine can do is
// simulated only if the user asks for it, and then the result says that it is hypothetical.
#pragma once

#include <string_view>

#include "coll/algo/algorithms.h"
#include "coll/program/program.h"
#include "sim/result.h"
#include "study/collective/method.h"
#include "study/prepared_system.h"

namespace infold::study {

/// What a program asks of switches, whether an algorithm wrote it or a file holds it.
inc::Unit unit_of(const coll::Program& program);

/// Whether switches with such a unit exist only as a design, or are not those of a machine whose switches
/// have `built`.
bool is_hypothetical(inc::Unit built, inc::Unit needed);
bool is_hypothetical(const SystemSpec& system, inc::Unit needed);
/// The same for an algorithm. Null stands for auto, which takes nothing hypothetical.
bool is_hypothetical(inc::Unit built, const coll::Algorithm* algorithm);
bool is_hypothetical(inc::Unit built, const Method& method);

/// Refuses what the machine does not have, unless the user asks what would be if it had it. `name` is the
/// name of the algorithm. A fabric that cannot have such switches at all is refused elsewhere, with that
/// reason.
sim::Status check_built(const PreparedSystem& system, inc::Unit needed, std::string_view name, bool what_if);
sim::Status check_built(const PreparedSystem& system, const coll::Algorithm* algorithm, bool what_if);
sim::Status check_built(const PreparedSystem& system, const Method& method, bool what_if);

}  // namespace infold::study
