// What a GPU's counters showed during a run, short enough for a page.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/trace.h"

namespace infold::report {

/// From `at_ms[i]` on it had `values[i]`.
struct PageCounter {
  std::string name;
  std::string unit;
  std::vector<double> at_ms;
  std::vector<double> values;
};

/// The counters of one run's first GPU.
struct PageCounters {
  std::size_t row = 0;  ///< of the result, where it has rows
  std::string gpu;
  std::vector<PageCounter> counters;
};

/// At most so many values of each: means over equal times where there are more.
PageCounters counters_of(const sim::TraceRecorder& trace, std::size_t row, std::size_t most = 400);

}  // namespace infold::report
