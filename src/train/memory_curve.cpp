// Takes the bytes of each op over to the operations that compute.
#include "train/memory_curve.h"

#include <algorithm>

#include "train/memory_need.h"

namespace infold::train {

MemoryCurve memory_curve(const Plan& plan) {
  MemoryCurve curve;
  const std::vector<std::int64_t> bytes = passing_bytes(plan);
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (plan.ops[i].kernel() != nullptr) {
      curve.push_back({.op = static_cast<work::OpId>(i), .passing = bytes[i]});
    } else if (!curve.empty()) {
      curve.back().passing = std::max(curve.back().passing, bytes[i]);
    }
  }
  return curve;
}

}  // namespace infold::train
