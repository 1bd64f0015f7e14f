// The checker of strategies: follows the gradients of a step through its graph, without numbers and without
// time, and proves that every rank updates every parameter once, from the sum of all ranks' gradients.
#pragma once

#include "sim/result.h"
#include "work/graph.h"

namespace infold::work {

/// Refused: the first thing that is wrong. Besides the sums it proves that nothing is read or written while
/// another may write it, whatever the timing, and that a tensor which is written at all is not read before.
/// Requires: check(graph), one script. Only all-reduces are known so far.
sim::Status check_step(const Graph& graph, int parameters);

}  // namespace infold::work
