// Compares what an algorithm needs with inc.unit.
#include "study/hypothetical.h"

#include <fmt/format.h>

namespace infold::study {

inc::Unit unit_of(const coll::Program& program) {
  if (!program.in_network()) return inc::Unit::kNone;
  return program.engine == coll::Engine::kSm ? inc::Unit::kNvls : inc::Unit::kProposed;
}

bool is_hypothetical(inc::Unit built, inc::Unit needed) {
  return needed != inc::Unit::kNone && (needed == inc::Unit::kProposed || built != inc::Unit::kNvls);
}
bool is_hypothetical(const SystemSpec& system, inc::Unit needed) {
  return is_hypothetical(system.machine.inc.unit, needed);
}
bool is_hypothetical(inc::Unit built, const coll::Algorithm* algorithm) {
  return algorithm != nullptr && is_hypothetical(built, algorithm->unit);
}

bool is_hypothetical(inc::Unit built, const Method& method) {
  return method.program != nullptr ? is_hypothetical(built, unit_of(method.program->program))
                                   : is_hypothetical(built, method.algorithm);
}

sim::Status check_built(const PreparedSystem& system, inc::Unit needed, std::string_view name, bool what_if) {
  const inc::Unit has = system.machine.inc.unit;
  if (what_if || needed == inc::Unit::kNone || has == inc::Unit::kProposed || has == needed) return {};
  if (!system.plan().in_network()) return {};
  const std::string_view why = has == inc::Unit::kNone
                                   ? "do not reduce"
                                   : "sum only what SMs ask for, and have no collective engines as partners";
  return sim::fail(
      fmt::format("{}: the switches of {} {} (inc.unit is {}); --what-if inc simulates them as if they did",
                  name, system.name, why, sim::name_of(has)),
      "inc.unit");
}

sim::Status check_built(const PreparedSystem& system, const coll::Algorithm* algorithm, bool what_if) {
  if (algorithm == nullptr) return {};
  return check_built(system, algorithm->unit, algorithm->name, what_if);
}

sim::Status check_built(const PreparedSystem& system, const Method& method, bool what_if) {
  if (method.program == nullptr) return check_built(system, method.algorithm, what_if);
  return check_built(system, unit_of(method.program->program), method.program->name, what_if);
}

}  // namespace infold::study
