// A workload from a file: the graph, and what its trace measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coll/dtype.h"
#include "sim/units.h"
#include "work/graph.h"

namespace infold::study {

/// What a trace says of its own run, of one rank.
struct TraceMeasured {
  sim::Time step;           ///< of the part that became the workload
  sim::Time communicating;  ///< a kernel of communication ran
  sim::Time uncovered;      ///< the part of it in which no kernel of compute ran
};

struct Workload {
  std::string name;
  coll::DataType type = coll::DataType::kFp32;  ///< of what is communicated
  work::Graph graph = {};
  std::optional<TraceMeasured> measured = {};
  std::vector<std::string> sources = {};  ///< where it comes from, and what was assumed
};

}  // namespace infold::study
