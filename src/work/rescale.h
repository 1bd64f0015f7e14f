// A graph of N ranks on M: data-parallel groups grow or shrink, all others stay as they are.
#pragma once

#include <string>
#include <vector>

#include "sim/result.h"
#include "work/graph.h"

namespace infold::work {

struct Rescaled {
  Graph graph;
  std::vector<std::string> assumed;  ///< sentences about what was taken for granted
};

/// The ranks of a graph are replicas of equal numbers of consecutive ranks, which stay together; the
/// communicators between replicas grow. Refuses a graph that is not like that, and a number of ranks that is
/// no number of replicas.
sim::Result<Rescaled> rescaled(Graph graph, int ranks);

}  // namespace infold::work
