// Files of traces as one workload: one file for each rank, of Chakra or of the PyTorch profiler, or an
// archive of such files.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "formats/notes.h"
#include "formats/recognise.h"
#include "formats/text/byte_stream.h"
#include "formats/trace/trace_nodes.h"
#include "sim/result.h"

namespace infold::formats {

struct TraceOptions {
  int ranks = 0;  ///< how many there are where the traces do not say it; 0: not said
  int step = -1;  ///< of profiles: the number of a ProfilerStep; -1: the one in the middle
};

struct TracedWorkload {
  Format format = Format::kUnknown;
  study::Workload workload;
  Notes notes;
};

/// Whether a file is a trace or a workload, which load_workload reads.
bool is_workload_format(Format format);
/// What a file holds, by its beginning.
sim::Result<Format> recognise_file(const std::string& file);

/// Reads traces, or one workload file of ours. Traces are read piece by piece: files may be larger than
/// memory, what is kept of them may not.
sim::Result<TracedWorkload> load_workload(const std::vector<std::string>& files,
                                          const TraceOptions& options = {});

/// The same for the text of one file, for tests.
sim::Result<TracedWorkload> workload_from(std::string_view bytes, const std::string& file,
                                          const TraceOptions& options = {});

}  // namespace infold::formats
