// Writes traces as a file that Perfetto opens (https://ui.perfetto.dev): there is one process per GPU or
// switch, its streams and counters are tracks, and arrows are flows. Times are whole nanoseconds there,
// rounded down.
#pragma once

#include <string>
#include <vector>

#include "sim/trace.h"

namespace infold::report {

/// One simulation on the timeline of the file. Tracks with the same place and label in several runs become
/// one track.
struct TracedRun {
  std::string place;  ///< appended to the names of GPUs and switches; may be empty
  std::string label;  ///< name of the run as a whole
  sim::Time begins;   ///< its time on the timeline
  const sim::TraceRecorder* trace = nullptr;
};

struct TraceFile {
  std::string version;
  std::string typed;  ///< the command line
  std::vector<TracedRun> runs;
};

/// The time at which the last span or sample ends.
sim::Time end_of(const sim::TraceRecorder& trace);

std::string perfetto_trace(const TraceFile& file);

}  // namespace infold::report
