// Every passing tensor lives from its first to its last use. The largest sum of tensors that live at the same
// time counts.
#include "train/memory_need.h"

#include <algorithm>
#include <vector>

namespace infold::train {

std::vector<std::int64_t> passing_bytes(const Plan& plan) {
  std::vector<int> first(plan.tensors.size(), -1);
  std::vector<int> last(plan.tensors.size(), -1);
  for (int i = 0; i < static_cast<int>(plan.ops.size()); ++i) {
    const Op& op = plan.ops[static_cast<std::size_t>(i)];
    for (const auto& ids : {reads_of(op), writes_of(op)}) {
      for (const TensorId t : ids) {
        const auto n = static_cast<std::size_t>(t);
        if (first[n] < 0) first[n] = i;
        last[n] = i;
      }
    }
  }
  std::vector<std::int64_t> change(plan.ops.size() + 1);
  for (std::size_t t = 0; t < plan.tensors.size(); ++t) {
    if (first[t] < 0 || plan.tensors[t].role != TensorSpec::Role::kPassing) continue;
    change[static_cast<std::size_t>(first[t])] += plan.tensors[t].bytes();
    change[static_cast<std::size_t>(last[t]) + 1] -= plan.tensors[t].bytes();
  }
  std::vector<std::int64_t> bytes;
  std::int64_t now = 0;
  for (std::size_t i = 0; i < plan.ops.size(); ++i) bytes.push_back(now += change[i]);
  return bytes;
}

MemoryNeed memory_need(const Plan& plan) {
  MemoryNeed need;
  // Not all weights are tensors of the plan: small ones (bias, scale) are read by kernels without being
  // listed.
  for (const std::int64_t n : plan.parameter_elements)
    need.weights += sim::Bytes{n * plan.recipe.weight_bytes()};
  for (const TensorSpec& t : plan.tensors) {
    if (t.role == TensorSpec::Role::kOptimizer) need.optimizer += sim::Bytes{t.bytes()};
    if (t.role == TensorSpec::Role::kGradient) need.gradients += sim::Bytes{t.bytes()};
  }
  std::int64_t most = 0;
  for (const std::int64_t bytes : passing_bytes(plan)) most = std::max(most, bytes);
  need.passing = sim::Bytes{most};
  return need;
}

}  // namespace infold::train
