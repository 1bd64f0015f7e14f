// How far composed steps were off the same steps in bursts on every GPU, by kind of step: what
// `infold validate --ladder` prints. docs/fidelity.md has the table.
#pragma once

#include <optional>

#include "study/step/step_run.h"

namespace infold::study::composed {

/// The largest error of a step of such a job, as a fraction. None where no such step was measured.
std::optional<double> measured_error(const StepJob& job);

}  // namespace infold::study::composed
