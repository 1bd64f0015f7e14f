// A profiler's trace as what its rank did: kernels on their streams, collectives, and the host between
// launches.
#pragma once

#include <cstdint>
#include <string>

#include "formats/notes.h"
#include "formats/trace/kineto_events.h"
#include "formats/trace/trace_nodes.h"
#include "sim/result.h"

namespace infold::formats {

/// What is told of all files together.
struct KinetoCounts {
  std::string gpu;
  std::int64_t kernels = 0;
  std::int64_t products = 0;    ///< kernels with known shapes
  sim::Time products_measured;  ///< how long those took
  std::int64_t copies = 0;
  std::int64_t collectives = 0;
  std::int64_t unsized = 0;  ///< communication of which only the duration is known
  std::int64_t other_devices = 0;
  std::int64_t waits = 0;    ///< streams that wait for another, as recorded
  std::int64_t guessed = 0;  ///< the same, told from calls and times
  bool no_calls = false;
  bool no_launch = false;
  std::string step;  ///< which part of the trace it is
  std::int64_t steps = 0;
};

/// `step`: the number of a ProfilerStep; -1: the one in the middle, or the whole trace where there is none.
/// `rank`: what the file's name says.
sim::Result<RankTrace> read_kineto_rank(const KinetoTrace& trace, const std::string& file, int rank, int step,
                                        KinetoCounts& counts);
void note_kineto(const KinetoCounts& counts, Notes& notes);

}  // namespace infold::formats
