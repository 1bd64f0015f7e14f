// How much of a rank's memory is in use while each operation of compute runs, above what is kept for the
// whole step. The most of it is what MemoryNeed counts.
#pragma once

#include <cstdint>
#include <vector>

#include "train/plan.h"
#include "work/graph.h"

namespace infold::train {

/// From the start of an operation of compute to the start of the next.
struct MemoryMoment {
  work::OpId op = 0;
  std::int64_t passing = 0;   ///< bytes of activations, their gradients and copies
  std::int64_t gathered = 0;  ///< bytes of MemoryNeed::gathered
};
/// In the order of the stream of compute.
using MemoryCurve = std::vector<MemoryMoment>;

/// Of a plan whose ops are the first operations of a graph. What an exchange needs counts for the kernel
/// before it.
MemoryCurve memory_curve(const Plan& plan);

}  // namespace infold::train
