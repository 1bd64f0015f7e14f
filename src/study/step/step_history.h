// When what happened in a training step, for charts: the passes of a pipeline's stages, compute and
// communication of a rank, and what is in memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coll/program/collective.h"
#include "sim/units.h"
#include "study/step/planned_step.h"
#include "train/memory_curve.h"
#include "train/schedule/schedule.h"
#include "work/timeline.h"

namespace infold::study {

/// A pass of a micro-batch through a part of a stage, or the update of the stage's weights, as the first of
/// the stage's ranks ran it.
struct StagePass {
  int stage = 0;
  std::optional<train::Pass> pass;  ///< none: the update
  sim::Time start;
  sim::Time end;
};

/// Compute without a longer pause, all of one phase.
struct ComputeSpan {
  train::Phase phase = train::Phase::kForward;
  sim::Time start;
  sim::Time end;
};

/// All communication of one kind on one communicator, in the order of time.
struct CommunicationSpans {
  std::string communicator;
  coll::Collective what = coll::Collective::kAllReduce;
  struct Span {
    sim::Time start;
    sim::Time end;
  };
  std::vector<Span> spans = {};
};

/// What a rank has in memory: what it keeps, and from each time on what it has besides.
struct MemoryOverTime {
  struct Level {
    sim::Time from;
    std::int64_t passing = 0;   ///< bytes
    std::int64_t gathered = 0;  ///< bytes
  };
  sim::Bytes kept;  ///< weights, gradients and the state of the optimizer
  std::vector<Level> levels = {};
};

struct StepHistory {
  std::vector<StagePass> pipeline = {};  ///< by stage, then by time; empty without a pipeline
  // Of one rank, and only where the job records.
  std::vector<ComputeSpan> compute = {};
  std::vector<CommunicationSpans> communication = {};
  /// By script: of each stage, or of all ranks. Only where the job records.
  std::vector<MemoryOverTime> memory = {};
};

/// Requires: the step has run. `rank` is the one whose compute and communication are told of.
StepHistory step_history(const work::Timeline& timeline, const PlannedStep& step, int rank, bool all);
/// Requires: the same, of a rank whose kernels these are.
MemoryOverTime memory_over_time(const work::Timeline& timeline, const train::MemoryCurve& curve,
                                const train::MemoryNeed& need, int rank);
/// No more levels than that: of those that come together, the one with most is kept.
MemoryOverTime thinned(const MemoryOverTime& memory, std::size_t most);
/// For example "forward of micro-batch 3", with the part of the stage's model where it has several.
std::string name_of(const train::Pass& pass, bool several_parts);

}  // namespace infold::study
