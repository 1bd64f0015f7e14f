// The history of a training step as JSON: the passes of a pipeline for scripts, and all that a page draws.
#pragma once

#include <nlohmann/json.hpp>

#include "study/step/step_history.h"

namespace infold::report {

/// A list of stage, pass, micro_batch, start_ms and end_ms; and the chunk, where stages hold several parts.
nlohmann::ordered_json pipeline_json(const study::StepHistory& history);

/// Compute, communication and memory over time, some hundred values of each. Null if nothing was recorded.
nlohmann::ordered_json history_json(const study::StepHistory& history);

}  // namespace infold::report
