// Layouts of the same GPUs in which a step has room that does not fit as it was asked for. Nothing is
// simulated: a plan says what memory it needs.
#pragma once

#include <string>
#include <vector>

#include "sim/units.h"
#include "study/step/step_run.h"

namespace infold::study {

struct FittingLayout {
  StepJob job;
  std::string options;  ///< what to change, as typed: "--sync fsdp --recompute full"
  sim::Bytes memory;    ///< that the rank needs which needs most
};

struct FittingLayouts {
  std::vector<FittingLayout> nearest;  ///< those that fit and change least, the nearest first
  std::optional<FittingLayout> least;  ///< where none fits: the one that needs least
};

/// Tries more stages, wider tensor parallelism, strategies that shard, recomputation and smaller batches; if
/// none of these is enough, also 16-bit weights. `asked`: as it was asked for, with or without its dp.
FittingLayouts fitting_layouts(const StepJob& asked);

/// The same in words, to stand behind what is refused.
std::string in_words(const FittingLayouts& layouts, int gpus);

}  // namespace infold::study
