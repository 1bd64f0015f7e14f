// The result of a training step as a JSON object, for the reports that hold several. Used in this room only.
#pragma once

#include <nlohmann/json.hpp>

#include "report/rounding.h"
#include "report/step_report.h"

namespace infold::report {

/// The fields of `infold train`, from "system" to "buckets".
nlohmann::ordered_json step_fields(const StepLabel& label, const study::StepResult& result);

}  // namespace infold::report
