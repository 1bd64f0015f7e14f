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

/// An order in which everything can run; operations that meet in a collective end together. A graph is
/// refused if some wait for each other in a circle, or if a collective is not the same for all its members;
/// the details say which operation waits for which.
sim::Result<std::vector<Turn>> order_of(const Graph& graph);

/// Checks what Runtime requires: the graph is well formed, and there is an order in which everything can run.
sim::Status check(const Graph& graph);

}  // namespace infold::work
