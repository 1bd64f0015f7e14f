// How much memory a step of a strategy needs: what each rank keeps, and what is there as a whole for a while.
#pragma once

#include "train/memory_curve.h"
#include "train/memory_need.h"
#include "train/strategy/strategies.h"

namespace infold::train {

/// Requires: `step` is the graph of `request`, with one pass. Communication may take as long as what waits
/// for it allows. Buckets into which gradients are copied (ddp, horovod, tensorflow) are not counted.
MemoryNeed memory_need(const StepRequest& request, const StepGraph& step);
/// The same over the step, without what is kept for all of it.
MemoryCurve memory_curve(const StepRequest& request, const StepGraph& step);

}  // namespace infold::train
