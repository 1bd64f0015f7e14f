// Why backward is slower beside communication: the same step again, each time with one kind of sharing off.
//
// A cause is what the slow-down shrinks by when it alone is removed. Without one cause another may become the
// bottleneck, so causes need not add up to the whole; what is missing (or too much) is their interaction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/result.h"
#include "study/names.h"
#include "study/step/step_run.h"

namespace infold::study {

struct ExplainResult {
  struct Part {
    Cause cause = Cause::kSm;
    double slowdown = 0;
  };
  StepResult result;        ///< with everything as it is
  double slowdown = 0;      ///< the slow-down of backward, in steps of a millionth
  std::vector<Part> parts;  ///< one per cause; they add up to the slow-down
};

struct ExplainJob {
  StepJob step;
  int threads = 0;
};

/// The step without one cause; nothing if there is nothing to remove.
std::optional<StepJob> without(Cause cause, StepJob step);
/// What each cause contributes to a slow-down. `left` has, by cause, what is left of it without that cause;
/// nothing where there was nothing to remove.
std::vector<ExplainResult::Part> parts_of(double slowdown, std::span<const std::optional<double>> left);

sim::Result<ExplainResult> run(const ExplainJob& job, const KeepGoing& keep_going);

/// The outcome in words. `collective` names the algorithm, `sms` is the number of SMs of the GPU.
std::string in_words(const ExplainResult& explained, const std::string& collective, int sms);

}  // namespace infold::study
