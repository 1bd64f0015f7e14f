// Pipeline parallelism: stages of ranks hold parts of the model and hand micro-batches on by point-to-point
// sends.
#pragma once

#include <utility>
#include <vector>

#include "sim/result.h"
#include "train/layout.h"
#include "train/memory_curve.h"
#include "train/memory_need.h"
#include "train/parts.h"
#include "train/plan.h"
#include "train/schedule/schedule.h"
#include "train/strategy/sync_spec.h"
#include "work/graph.h"

namespace infold::train {

/// A step of a pipeline before it is laid out over ranks.
struct PipelinePlan {
  PipelineSpec spec;
  int stages = 1;
  std::vector<ModelPart> parts;  ///< in the model's order: chunk c of stage s is part c * stages + s
  std::vector<Plan> plans = {};  ///< of the parts, for one micro-batch
  Schedule schedule;

  int part_of(int stage, int chunk) const { return chunk * stages + stage; }
  std::vector<Plan> plans_of(int stage) const;
};

/// Plans a step. `recipe.batch` is that of a micro-batch; `split` says how ranks of a stage share it. Refuses
/// a model that cannot be cut so, and a schedule that cannot run.
sim::Result<PipelinePlan> plan_pipeline(const Graph& model, Recipe recipe, const PipelineSpec& spec,
                                        int stages, const Split& split = {});

/// The memory that a rank of a stage needs.
MemoryNeed memory_need(const PipelinePlan& plan, int stage);

struct PipelineRequest {
  const PipelinePlan& plan;
  Layout layout;        ///< with as many stages as the plan
  SyncSpec sync = {};   ///< ddp or zero1, and the size of buckets
  bool overlap = true;  ///< false: compute waits for its sends (unless interleaved), and nothing is reduced
                        ///< before backward has ended
};

/// Where a pass stands in the graph.
struct PassOps {
  int stage = 0;
  Pass pass;
  work::OpId first = 0;  ///< of compute; so is the last
  work::OpId last = 0;
};

/// A step as a graph: one script per stage.
struct PipelineStep {
  work::Graph graph;
  std::vector<work::OpId> backward_ended;  ///< by stage: a marker
  std::vector<work::OpId> step_ended;  ///< the same, behind the gathering of weights; empty if there is none
  std::vector<PassOps> passes;         ///< stage by stage, in the order of the schedule
  std::vector<work::TensorId> first_tensors;  ///< by part: the graph's tensor for its plan's first
};

/// Gradients are added up over micro-batches, and then reduced over replicas bucket by bucket, beside the
/// rest of backward. A parameter that two stages hold (a tied embedding) is reduced between these afterwards,
/// as Megatron-LM does.
PipelineStep write_pipeline(const PipelineRequest& request);

/// What a rank of a stage has in memory over the step, without what is kept for all of it. `step` is a graph
/// of the plan.
MemoryCurve memory_curve(const PipelinePlan& plan, const PipelineStep& step, int stage);
/// By kernel of a pass: the op of its part's plan that it is.
std::vector<std::pair<work::OpId, int>> kernels_of(const PipelinePlan& plan, const work::Graph& graph,
                                                   const PassOps& pass);

}  // namespace infold::train
