// A replayed workload as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "study/replay/replay_run.h"

namespace infold::report {

struct ReplayReport {
  std::string system;
  std::string gpu;
  std::string workload;
  std::vector<std::string> assumed;
  study::Method method;
  bool communicates = true;
  std::optional<study::TraceMeasured> measured;  ///< of the trace's own run, if it has not been changed
  study::ReplayResult result;
  std::optional<double> wall_s;
};

std::string replay_text(const ReplayReport& report);
std::string replay_json(const ReplayReport& report);

}  // namespace infold::report
