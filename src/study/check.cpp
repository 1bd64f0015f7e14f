// Preparing a system for the sake of what stands in its way.
#include "study/check.h"

namespace infold::study {

std::optional<sim::Refusal> PreparingCheck::operator()(const SystemSpec& system) {
  prepared_.reset();
  auto prepared = PreparedSystem::make(system, go_on_);
  if (!prepared) return sim::Refusal{prepared.error().parameter, prepared.error().message};
  prepared_ = *std::move(prepared);
  return std::nullopt;
}

std::optional<sim::Refusal> check(const SystemSpec& system) {
  return PreparingCheck()(system);
}

}  // namespace infold::study
