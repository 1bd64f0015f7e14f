// What the counters of a GPU showed during a run, short enough for a page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace infold::report {

/// The counter has the value `values[i]` from `at_ms[i]` on.
struct PageCounter {
  std::string name;
  std::string unit;
  std::vector<double> at_ms;
  std::vector<double> values;
};

/// The counters of the first GPU of a run.
struct PageCounters {
  std::size_t row = 0;  ///< the row of the result, if it has rows
  std::string gpu;
  std::vector<PageCounter> counters;
};

/// Keeps at most `most` values of each counter: if there are more, means over equal times.
PageCounters counters_of(const sim::TraceRecorder& trace, std::size_t row, std::size_t most = 400);

}  // namespace infold::report
