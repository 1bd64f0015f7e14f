// What the checker of steps (work/symbolic_step.h) has to know of a step: which ranks hold which parameter,
// and what is there before the step.
#pragma once

#include <vector>

#include "train/strategy/pipeline.h"
#include "train/strategy/strategies.h"
#include "work/symbolic_step.h"

namespace infold::train {

/// Requires: all ranks run the request's plan.
work::StepRules rules_of(const StepRequest& request);
/// The same for a pipeline. `step` is its graph, which says where the tensors of each part's plan are.
work::StepRules rules_of(const PipelineRequest& request, const PipelineStep& step);

/// Tensors of a plan that are more than what one kernel leaves for the next.
struct ExchangedTensors {
  std::vector<TensorId> given;    ///< they are read before any op writes them
  std::vector<TensorId> partial;  ///< ranks hold parts of a sum there, until these are reduced in place
  std::vector<TensorId> results;  ///< communication writes them, and no op reads them then
};
ExchangedTensors exchanged_tensors(const Plan& plan);

}  // namespace infold::train
