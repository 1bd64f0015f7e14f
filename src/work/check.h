// Whether a graph makes sense and can run to its end, found without a machine.
#pragma once

#include <vector>

#include "sim/result.h"
#include "work/graph.h"

namespace infold::work {

/// An operation of a rank.
struct Turn {
  int rank = 0;
  OpId op = 0;
};

/// An order in which everything can run; what meets in a collective ends together. Refused: some wait for
/// each other in a circle, or a collective is not the same for all; the details say who waits for whom.
sim::Result<std::vector<Turn>> order_of(const Graph& graph);

/// What Runtime requires: the graph is well formed, and there is such an order.
sim::Status check(const Graph& graph);

}  // namespace infold::work
