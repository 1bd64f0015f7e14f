// A job's training step before it runs: its graph, its memory, and what its times are read by.
#pragma once

#include <optional>
#include <vector>

#include "sim/result.h"
#include "sim/units.h"
#include "train/memory_curve.h"
#include "train/memory_need.h"
#include "train/plan.h"
#include "train/strategy/pipeline.h"
#include "work/graph.h"

namespace infold::study {

struct StepJob;

struct PlannedStep {
  std::optional<train::Plan> plan;  ///< none of a pipeline: its stages have plans of their own
  work::Graph graph;
  std::vector<std::optional<train::Phase>> phases;  ///< by operation; none for what belongs to no phase
  std::vector<work::OpId> backward_ended;           ///< by script: a marker
  /// A marker: the pass is over with all its communication, and a pass before it would be like this one.
  /// None: passes before the last only compute.
  std::optional<work::OpId> pass_ended = {};
  /// By script, a marker: the step is over, with communication behind the update. Empty: it is over with the
  /// update.
  std::vector<work::OpId> step_ended = {};
  train::MemoryNeed memory;                            ///< of the rank that needs most
  std::vector<train::MemoryNeed> needs = {};           ///< by script
  std::vector<train::MemoryCurve> memory_curves = {};  ///< the same
  std::optional<train::PipelinePlan> pipeline = {};    ///< of a pipeline
  std::vector<train::PassOps> passes = {};             ///< the same: stage by stage
  int gradient_bytes = 4;                              ///< of an element, as it is sent
};

/// Refuses a layout, a strategy or a schedule that the model cannot have.
sim::Result<PlannedStep> plan_step(const StepJob& job);

/// How many communicators have something to do.
int used_communicators(const work::Graph& graph);

/// Bytes that all ranks send if every collective is a ring: what a step costs to simulate, about.
sim::Bytes ring_bytes(const work::Graph& graph);

}  // namespace infold::study
