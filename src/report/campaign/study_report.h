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
  bool sentences = false;        ///< begins with what it shows in four sentences
  std::vector<StepLabel> cases;  ///< their method and overlap are ignored
  std::vector<bool> heavy;       ///< by case
  std::vector<study::SizeWindow> windows;
  study::OverlapResult result;
  std::optional<double> wall_s;
};

std::string study_text(const StudyReport& report);
std::string study_json(const StudyReport& report);

/// A size as people write it, for example "64 KiB".
std::string size_text(sim::Bytes n);
/// The times of all methods by size, where they win, and which of them are hypothetical.
std::string window_text(const study::SizeWindow& window, const study::SizeWindowResult& result);

}  // namespace infold::report
