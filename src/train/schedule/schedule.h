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
  kBackward,        ///< all of backward
  kInputGradient,   ///< the part of backward that the stage before waits for
  kWeightGradient,  ///< the rest of backward
};

struct Pass {
  PassKind kind = PassKind::kForward;
  int micro_batch = 0;
  int chunk = 0;  ///< which of the stage's parts of the model
  bool operator==(const Pass&) const = default;
};

/// The passes of each stage, by stage.
using Schedule = std::vector<std::vector<Pass>>;

/// Refuses what a schedule cannot do.
sim::Status check_pipeline(const PipelineSpec& spec, int stages);
/// Requires: check_pipeline(spec, stages).
Schedule make_schedule(const PipelineSpec& spec, int stages);

/// GPipe (arXiv 1811.06965): all micro-batches run forward, then all run backward.
Schedule gpipe(int stages, int micro_batches);
/// One forward, one backward: PipeDream-flush (arXiv 2006.09503), Megatron-LM (arXiv 2104.04473).
Schedule one_forward_one_backward(int stages, int micro_batches);
/// 1F1B with `chunks` parts of the model on each stage (arXiv 2104.04473, section 2.2).
/// Requires: the number of stages divides that of micro-batches.
Schedule interleaved(int stages, int micro_batches, int chunks);
/// ZB-H1 (arXiv 2401.10241): gradients of weights are computed later, as far as the memory of 1f1b allows.
Schedule zero_bubble(int stages, int micro_batches);

/// The order of 1F1B on one stage: `ahead` forward passes first, then by turns one more while there is one
/// and one backward. `forward` and `backward` write the passes of number k; there are `all` numbers.
template <class Forward, class Backward>
void by_turns(int ahead, int all, const Forward& forward, const Backward& backward) {
  for (int k = 0; k < ahead; ++k) forward(k);
  for (int k = 0; k < all; ++k) {
    if (k + ahead < all) forward(k + ahead);
    backward(k);
  }
}

/// For each pass, the place in which its micro-batch's activations lie on its stage: forward takes one that
/// is free, the last pass of backward frees it. Places of each chunk are counted from 0.
std::vector<int> places_of(const std::vector<Pass>& passes);
/// Micro-batches of each chunk whose activations a stage holds at once, at most.
std::vector<int> most_in_flight(const std::vector<Pass>& passes, int chunks);

}  // namespace infold::train
