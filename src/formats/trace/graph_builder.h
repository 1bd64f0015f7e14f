// Traces of ranks as one workload: streams, communicators, and ranks without a trace of their own.
#pragma once

#include <string>
#include <vector>

#include "formats/notes.h"
#include "formats/trace/trace_nodes.h"
#include "sim/result.h"

namespace infold::formats {

/// `ranks`: how many there are where the traces do not say it; 0: as many as traces, two at least. What is
/// given is well formed and can end; otherwise the details say which operations wait for each other.
sim::Result<study::Workload> build_workload(std::string name, const std::vector<RankTrace>& traces, int ranks,
                                            Notes& notes);

}  // namespace infold::formats
