// Cuts backward in two: what the part of the model before waits for, and the gradients of weights, which only
// the update waits for.
#pragma once

#include <vector>

#include "train/plan.h"

namespace infold::train {

/// The ops of a plan's backward by number, each list in order.
struct SplitBackward {
  std::vector<int> inputs;
  std::vector<int> weights;
};
SplitBackward split_backward(const Plan& plan);

}  // namespace infold::train
