// Strategies of training: each writes the workload graph of a step from the step's plan. They know sizes and
// what waits for what, but nothing of machines or times.
#pragma once

#include <vector>

#include "sim/units.h"
#include "train/plan.h"
#include "train/strategy/sync_spec.h"
#include "work/graph.h"

namespace infold::train {

struct StepRequest {
  const Plan& plan;
  int ranks = 1;
  SyncSpec sync;
  bool overlap = true;  ///< false: nothing is reduced before backward has ended
};

/// A step as a graph. Its first operations are those of the plan, in that order.
struct StepGraph {
  work::Graph graph;
  work::OpId backward_ended = 0;  ///< a marker: the last gradient is where communication finds it
};

StepGraph write_step(const StepRequest& request);

// Each of these has its own file.
StepGraph write_ddp(const StepRequest& request);
StepGraph write_horovod(const StepRequest& request);
StepGraph write_tensorflow(const StepRequest& request);
StepGraph write_per_tensor(const StepRequest& request);

/// The plan alone, on one GPU.
work::Graph write_alone(const Plan& plan);

/// Bytes of each parameter's gradient as it is sent.
std::vector<sim::Bytes> gradient_sizes(const Plan& plan);

}  // namespace infold::train
