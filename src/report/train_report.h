// A training step: its phases as text and as JSON.
#pragma once

#include <optional>
#include <string>

#include "study/step/train_run.h"

namespace infold::report {

struct TrainReport {
  std::string system;
  std::string gpu;
  std::string model;
  int batch = 0;
  int accumulate = 1;  ///< passes a step
  int tokens = 0;      ///< of a sample that is a sequence, else 0
  std::string dtype;
  std::string fusion;
  std::string optimizer;
  study::TrainResult result;
  std::optional<double> wall_s;
};

std::string train_text(const TrainReport& report);
std::string train_json(const TrainReport& report);

}  // namespace infold::report
