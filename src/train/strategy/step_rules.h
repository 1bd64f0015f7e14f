// What the checker of steps (work/symbolic_step.h) has to know of a step: which ranks hold which parameter,
// and what is there before the step.
#pragma once

#include "train/strategy/strategies.h"
#include "work/symbolic_step.h"

namespace infold::train {

/// Requires: all ranks run the request's plan.
work::StepRules rules_of(const StepRequest& request);

}  // namespace infold::train
