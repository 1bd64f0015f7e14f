// A training step at the fidelity `composed`: profiles of what is distinct, and the step put together from
// them.
#pragma once

#include "sim/result.h"
#include "study/step/planned_step.h"
#include "study/step/step_programs.h"
#include "study/step/step_run.h"

namespace infold::study::composed {

/// Whether such a step can be composed; the error says what cannot.
sim::Status check(const StepJob& job, const PlannedStep& step);

/// `result` has what is known before the step runs. Requires: check, and programs of all communication.
sim::Result<StepResult> run(const StepJob& job, const PlannedStep& step, const StepPrograms& programs,
                            StepResult result, const KeepGoing& keep_going);

}  // namespace infold::study::composed
