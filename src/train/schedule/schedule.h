// Schedules of pipelines: in which order each stage works on its micro-batches. They know numbers, and
// nothing of models, machines or times. Each has its own file.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/result.h"
#include "train/schedule/pipeline_spec.h"

namespace infold::train {

/// What a stage does with a micro-batch at one go.
enum class PassKind : std::uint8_t {
  kForward,
  kBackward,        ///< all of it
  kInputGradient,   ///< of backward, what the stage before waits for
  kWeightGradient,  ///< and the rest
};

struct Pass {
  PassKind kind = PassKind::kForward;
  int micro_batch = 0;
  int chunk = 0;  ///< which of the stage's parts of the model
  bool operator==(const Pass&) const = default;
};

/// By stage.
using Schedule = std::vector<std::vector<Pass>>;

/// Refuses what a schedule cannot do.
sim::Status check_pipeline(const PipelineSpec& spec, int stages);
/// Requires: check_pipeline(spec, stages).
Schedule make_schedule(const PipelineSpec& spec, int stages);

/// GPipe (arXiv 1811.06965): all micro-batches forward, then all backward.
Schedule gpipe(int stages, int micro_batches);
/// One forward, one backward: PipeDream-flush (arXiv 2006.09503), Megatron-LM (arXiv 2104.04473).
Schedule one_forward_one_backward(int stages, int micro_batches);
/// The same with `chunks` parts of the model on each stage (arXiv 2104.04473, section 2.2).
/// Requires: micro-batches that the stages divide.
Schedule interleaved(int stages, int micro_batches, int chunks);
/// ZB-H1 (arXiv 2401.10241): gradients of weights are computed later, as far as the memory of 1f1b allows.
Schedule zero_bubble(int stages, int micro_batches);

/// For each pass, the place in which its micro-batch's activations lie on its stage: forward takes one that
/// is free, the last pass of backward frees it. Places of each chunk are counted from 0.
std::vector<int> places_of(const std::vector<Pass>& passes);
/// Micro-batches of each chunk whose activations a stage holds at once, at most.
std::vector<int> most_in_flight(const std::vector<Pass>& passes, int chunks);

}  // namespace infold::train
