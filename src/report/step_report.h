// A training step on several GPUs: its phases and buckets as text and as JSON.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "study/step/step_run.h"

namespace infold::report {

/// What was run.
struct StepLabel {
  std::string system;
  std::string gpu;
  int gpus = 0;
  std::string model;
  int batch = 0;
  int tokens = 0;  ///< tokens of a sample that is a sequence, otherwise 0
  std::string dtype;
  std::string fusion;
  std::string optimizer;
  std::string recompute = "none";
  std::string sync;
  bool overlap = true;
  study::Method method;
  inc::Unit built = inc::Unit::kNone;  ///< what the switches of the system can do
};

struct StepReport {
  StepLabel label;
  study::StepResult result;
  std::optional<double> wall_s;
};

/// Whether the switches of the system can not do what the method asks for.
bool is_hypothetical(const StepLabel& label, const study::Method& method);
/// "hypothetical: inc-push: ...", as a line; empty if none of the methods is.
std::string hypothetical_text(const StepLabel& label, std::span<const study::Method> methods);
double samples_per_s(const StepLabel& label, const study::StepResult& result);
/// "resnet50 on 8 a100-80 of dgx-a100: batch 256 a GPU, mixed, eager, sgd"
/// ", full recomputation", or nothing.
std::string recomputation(const std::string& what);
std::string title(const StepLabel& label, int passes);

std::string step_text(const StepReport& report);
std::string step_json(const StepReport& report);

}  // namespace infold::report
