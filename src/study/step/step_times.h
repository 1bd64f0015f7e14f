// When a GPU did what in a training step, read from its timeline.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/units.h"
#include "study/step/planned_step.h"
#include "train/plan.h"
#include "work/timeline.h"

namespace infold::study {

/// All times are counted from the start of the step.
struct StepTimes {
  sim::Time forward_began;
  sim::Time forward_ended;
  sim::Time backward_began;
  sim::Time backward_ended;  ///< when the last gradient is where collectives find it
  sim::Time optimizer_began;
  sim::Time optimizer_ended;

  sim::Time forward() const { return forward_ended - forward_began; }
  sim::Time backward() const { return backward_ended - backward_began; }
  sim::Time optimizer() const { return optimizer_ended - optimizer_began; }
};

/// Requires: the step has run. Forward of a pipeline is what comes before its first backward.
StepTimes step_times(const work::Timeline& timeline, const PlannedStep& step, int rank);

/// A kernel of a GPU's compute stream, or the few that belong to one op of the plan.
struct RanKernel {
  enum class What : std::uint8_t { kOp, kCopyIn, kCopyBack };
  What what = What::kOp;
  int index = 0;  ///< the number of the op, or of the parameter whose gradient was copied
  sim::Time began;
  sim::Time ended;
};

/// Everything that was in the compute stream, in the order of time.
std::vector<RanKernel> ran_kernels(const work::Timeline& timeline, const train::Plan& plan, int rank);

}  // namespace infold::study
