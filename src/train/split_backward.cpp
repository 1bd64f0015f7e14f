// From the last op to the first: an op belongs to the gradients of weights if nothing else needs what it
// writes.
#include "train/split_backward.h"

#include <algorithm>

namespace infold::train {

namespace {

/// Whether a kernel is for the gradient of activations. The first part of a model has some, too, although no
/// part before it waits for them.
bool of_activations(const Op& op) {
  const Computation* kernel = op.kernel();
  if (kernel == nullptr) return false;
  if (const auto* m = std::get_if<MatMul>(kernel)) return !m->of_weights;
  if (const auto* c = std::get_if<Convolve>(kernel)) return c->way != Convolve::Way::kFilterGradient;
  return std::holds_alternative<Attend>(*kernel);
}

}  // namespace

SplitBackward split_backward(const Plan& plan) {
  std::vector<bool> needed(plan.tensors.size());  // by something else than gradients of weights
  if (plan.ends.sent_gradient >= 0) needed[static_cast<std::size_t>(plan.ends.sent_gradient)] = true;
  // This is a sum in the memory of a gradient. Other parts are read under the name of the whole, so kernels
  // that write them are needed.
  const auto adds_to = [&](const Op& op, TensorId t) {
    const std::vector<TensorId> reads = reads_of(op);
    return std::ranges::find(reads, t) != reads.end();
  };
  SplitBackward split;
  for (int i = plan.first_op(Phase::kOptimizer); i-- > plan.first_op(Phase::kBackward);) {
    const Op& op = plan.ops[static_cast<std::size_t>(i)];
    const std::vector<TensorId> writes = writes_of(op);
    const bool of_weights =
        !op.again && !of_activations(op) && !writes.empty() && std::ranges::all_of(writes, [&](TensorId t) {
          switch (plan.tensors[static_cast<std::size_t>(t)].role) {
            case TensorSpec::Role::kGradient:
              return true;
            case TensorSpec::Role::kPassing:
              return !needed[static_cast<std::size_t>(t)];
            case TensorSpec::Role::kPart:
              return adds_to(op, t);
            default:
              return false;
          }
        });
    (of_weights ? split.weights : split.inputs).push_back(i);
    if (of_weights) continue;
    for (const TensorId t : reads_of(op)) needed[static_cast<std::size_t>(t)] = true;
  }
  std::ranges::reverse(split.inputs);
  std::ranges::reverse(split.weights);
  return split;
}

}  // namespace infold::train
