// Why a training step is slower than its kernels alone: as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "report/step_report.h"
#include "study/step/explain_run.h"

namespace infold::report {

struct ExplainReport {
  StepLabel label;
  int sms = 0;  ///< SMs of one GPU
  study::ExplainResult result;
  std::optional<double> wall_s;
};
std::string explain_text(const ExplainReport& report);
std::string explain_json(const ExplainReport& report);

}  // namespace infold::report
