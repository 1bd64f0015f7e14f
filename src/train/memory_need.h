// How much memory a training step needs.
#pragma once

#include "sim/units.h"
#include "train/plan.h"

namespace infold::train {

struct MemoryNeed {
  sim::Bytes weights;
  sim::Bytes gradients;
  sim::Bytes optimizer;
  sim::Bytes passing;  ///< activations, their gradients and copies, at the moment when they are largest
  sim::Bytes total() const { return weights + gradients + optimizer + passing; }
};

MemoryNeed memory_need(const Plan& plan);

}  // namespace infold::train
