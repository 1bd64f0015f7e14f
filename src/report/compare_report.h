// Training steps side by side, and why backward is slower: as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "report/step_report.h"
#include "study/step/compare_run.h"
#include "study/step/explain_run.h"

namespace infold::report {

struct CompareReport {
  StepLabel label;  ///< its method and overlap are ignored
  study::CompareResult result;
  std::optional<double> wall_s;
};
std::string compare_text(const CompareReport& report);
std::string compare_json(const CompareReport& report);

struct ExplainReport {
  StepLabel label;
  int sms = 0;  ///< SMs of one GPU
  study::ExplainResult result;
  std::optional<double> wall_s;
};
std::string explain_text(const ExplainReport& report);
std::string explain_json(const ExplainReport& report);

}  // namespace infold::report
