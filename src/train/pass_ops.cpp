// A pass runs a phase of the plan, or a half of backward.
#include "train/pass_ops.h"

#include <numeric>

#include "train/split_backward.h"

namespace infold::train {

std::vector<int> pass_ops(const Plan& plan, PassKind kind) {
  if (kind == PassKind::kInputGradient) return split_backward(plan).inputs;
  if (kind == PassKind::kWeightGradient) return split_backward(plan).weights;
  const bool forward = kind == PassKind::kForward;
  const int first = forward ? 0 : plan.first_op(Phase::kBackward);
  const int end = plan.first_op(forward ? Phase::kBackward : Phase::kOptimizer);
  std::vector<int> ops(static_cast<std::size_t>(end - first));
  std::iota(ops.begin(), ops.end(), first);
  return ops;
}

}  // namespace infold::train
