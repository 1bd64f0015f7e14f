// A workload as a file of ours: the graph in JSON or YAML, to be edited, replayed and checked.
#pragma once

#include <string>
#include <string_view>

#include "sim/result.h"
#include "study/replay/workload.h"

namespace infold::formats {

/// Reads `kind: workload` from JSON or YAML text. What it gives is well formed and can end (work::check);
/// errors have their place.
sim::Result<study::Workload> read_workload(std::string_view text, const std::string& file);

/// What work::check says as what is wrong with a file: in one line, with the operations that wait for each
/// other.
sim::Error error_of_file(sim::Error error, const std::string& file);

/// JSON, one operation per line. It reads as the same workload.
std::string workload_text(const study::Workload& workload);

}  // namespace infold::formats
