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
  train::Layout layout = {};
  int micro_batches = 1;
  std::string schedule;           ///< of a pipeline, or empty
  int virtual_stages = 1;         ///< the same
  std::int64_t parameters = 0;    ///< of the model
  double flops_per_sample = 0;    ///< of the products of a forward and a backward pass
  double peak_flops_per_gpu = 0;  ///< per second, at the clock of the data sheet
  bool overlap = true;
  study::Method method;
  inc::Unit built = inc::Unit::kNone;  ///< what the switches of the system can do
};

/// What a job says of its step.
StepLabel label_of(const study::StepJob& job, const std::string& model);

struct StepReport {
  StepLabel label;
  study::StepResult result;
  std::optional<double> wall_s;
};

/// Whether the switches of the system cannot do what the method asks for.
bool is_hypothetical(const StepLabel& label, const study::Method& method);
/// A line "hypothetical: inc-push: ..."; empty if none of the methods is hypothetical.
std::string hypothetical_text(const StepLabel& label, std::span<const study::Method> methods);
/// Of what the GPUs can compute, the share that the model's products are. Recomputation does not count.
double mfu(const StepLabel& label, const study::StepResult& result);
double samples_per_s(const StepLabel& label, const study::StepResult& result);
/// Returns ", full recomputation" or the like; nothing if nothing is recomputed.
std::string recomputation(const std::string& what);
/// For example "resnet50 on 8 a100-80 of dgx-a100: batch 256 per GPU, mixed, eager, sgd".
std::string title(const StepLabel& label, int passes);

/// ", dp 2 x tp 4", or nothing where all ranks are data parallel.
std::string layout_text(const train::Layout& layout);

std::string step_text(const StepReport& report);
std::string step_json(const StepReport& report);

}  // namespace infold::report
