// A training run over the simulated machine: how its loss went down, and how far its weights are from those
// of one process.
#pragma once

#include <string>
#include <vector>

#include "study/learn_run.h"

namespace infold::report {

struct LearnReport {
  std::string system;
  int gpus = 0;
  int batch = 0;
  std::string dtype;
  inc::Unit built = inc::Unit::kNone;    ///< what the switches of the system can do
  std::vector<study::LearnResult> runs;  ///< runs of the same training, at least one
};

std::string learn_text(const LearnReport& report);
std::string learn_json(const LearnReport& report);

}  // namespace infold::report
