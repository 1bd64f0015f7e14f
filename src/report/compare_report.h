// Training steps side by side: as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "report/step_report.h"
#include "study/step/compare_run.h"

namespace infold::report {

struct CompareReport {
  StepLabel label;  ///< its method and overlap are ignored
  study::CompareResult result;
  std::optional<double> wall_s;
};
std::string compare_text(const CompareReport& report);
std::string compare_json(const CompareReport& report);

}  // namespace infold::report
