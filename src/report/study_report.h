// The study of overlap as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/step_report.h"
#include "study/step/overlap_study.h"

namespace infold::report {

struct StudyReport {
  std::string name;
  std::string summary;
  std::vector<StepLabel> cases;  ///< their method and overlap are ignored
  std::vector<bool> heavy;       ///< by case
  std::vector<study::SizeWindow> windows;
  study::OverlapResult result;
  std::optional<double> wall_s;
};

std::string study_text(const StudyReport& report);
std::string study_json(const StudyReport& report);

}  // namespace infold::report
