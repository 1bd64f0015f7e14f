// The result of a training step as a JSON object, for the reports that hold several. Used in this room only.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/step_report.h"

namespace infold::report {

/// Six decimals of a millisecond are one nanosecond.
inline double ms(sim::Time t) {
  return std::round(t.in_us() * 1e3) / 1e6;
}
inline double rounded(double v) {
  return std::round(v * 1e6) / 1e6;
}

/// The fields of `infold train`, from "system" to "buckets".
nlohmann::ordered_json step_fields(const StepLabel& label, const study::StepResult& result);

}  // namespace infold::report
