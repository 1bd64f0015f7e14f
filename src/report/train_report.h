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
  int accumulate = 1;  ///< passes per step
  int tokens = 0;      ///< tokens of a sample that is a sequence, otherwise 0
  std::string dtype;
  std::string fusion;
  std::string optimizer;
  std::string recompute = "none";
  study::TrainResult result;
  std::optional<double> wall_s;
};

std::string train_text(const TrainReport& report);
std::string train_json(const TrainReport& report);

}  // namespace infold::report
