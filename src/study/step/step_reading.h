// What the result of a step says of its times, read from a timeline: that of a simulation in detail or of a
// composition.
#pragma once

#include <vector>

#include "study/step/planned_step.h"
#include "study/step/step_programs.h"
#include "study/step/step_run.h"
#include "work/timeline.h"

namespace infold::study {

/// Every communication of gradients of the first rank's script.
std::vector<BucketResult> read_buckets(const work::Timeline& timeline, const StepPrograms& programs,
                                       int element_bytes);

/// Sets phases, waits and uses of the rank with the longest backward, and returns that rank. `alone`: by
/// script. `folded`: how many ranks each rank of the timeline represents.
int read_times(const StepJob& job, const PlannedStep& step, const work::Timeline& timeline,
               const StepPrograms& programs, const std::vector<AloneResult>& alone, int folded,
               StepResult& r);

}  // namespace infold::study
