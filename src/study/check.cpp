// Checks a system by preparing it.
#include "study/check.h"

namespace infold::study {

sim::Status PreparingCheck::operator()(const SystemSpec& system) {
  prepared_.reset();
  auto prepared = PreparedSystem::make(system, go_on_);
  if (!prepared) return sim::fail_as(std::move(prepared));
  prepared_ = *std::move(prepared);
  return {};
}

sim::Status check(const SystemSpec& system) {
  return PreparingCheck()(system);
}

}  // namespace infold::study
