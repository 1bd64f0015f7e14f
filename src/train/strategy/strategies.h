// Strategies of training: each writes the workload graph of a step from the step's plan. They know sizes and
// what waits for what, but nothing of machines or times.
#pragma once

#include <optional>
#include <vector>

#include "sim/units.h"
#include "train/plan.h"
#include "train/strategy/sync_spec.h"
#include "work/graph.h"

namespace infold::train {

struct StepRequest {
  const Plan& plan;
  Layout layout = {};
  SyncSpec sync;
  /// If false, nothing is reduced before backward has ended; where weights are gathered and gradients leave
  /// block by block, compute waits for each.
  bool overlap = true;
  /// Passes of forward and backward that are written; the last is that of the plan's operations. Only
  /// strategies that communicate in each pass write more than one.
  int passes = 1;
};

/// A step as a graph. Its first operations are those of the plan, in that order.
struct StepGraph {
  work::Graph graph;
  work::OpId backward_ended = 0;  ///< a marker: the last gradient is where communication finds it
  /// A marker: the pass is over with all its communication, and a pass before it would be like this one.
  /// None: passes before the last only compute.
  std::optional<work::OpId> pass_ended = {};
  /// A marker: the step is over, with communication behind the update. None: it is over with the update.
  std::optional<work::OpId> step_ended = {};
};

StepGraph write_step(const StepRequest& request);

// Each of these has its own file.
StepGraph write_ddp(const StepRequest& request);
StepGraph write_horovod(const StepRequest& request);
StepGraph write_tensorflow(const StepRequest& request);
StepGraph write_per_tensor(const StepRequest& request);
StepGraph write_zero(const StepRequest& request);
StepGraph write_fsdp(const StepRequest& request);

/// The plan alone, on one GPU.
work::Graph write_alone(const Plan& plan);

/// The bytes of each parameter's gradient as it is sent.
std::vector<sim::Bytes> gradient_sizes(const Plan& plan);

}  // namespace infold::train
