// How much memory a training step needs.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "train/plan.h"

namespace infold::train {

struct MemoryNeed {
  sim::Bytes weights;
  sim::Bytes gradients;
  sim::Bytes optimizer;
  sim::Bytes passing;  ///< activations, their gradients and copies, at the moment when they are largest
  /// Weights and gradients that are whole for a while, and what they are sent in, at the moment when they and
  /// `passing` are largest together.
  sim::Bytes gathered = {};
  sim::Bytes total() const { return weights + gradients + optimizer + passing + gathered; }
};

MemoryNeed memory_need(const Plan& plan);
/// By op of the plan: the bytes of the tensors that live while it runs and are not kept for the whole step.
std::vector<std::int64_t> passing_bytes(const Plan& plan);

}  // namespace infold::train
