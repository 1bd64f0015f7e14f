// ZB-H1: 1F1B in which backward is split. What the stage before waits for comes at once; gradients of weights
// come as many micro-batches later as the stage's number, so that they fill the time in which later stages
// wait at the end, and no stage holds more micro-batches than the first does in 1F1B. With passes of equal
// length the bubble is a third of 1F1B's.
#include <algorithm>

#include "train/schedule/schedule.h"

namespace infold::train {

Schedule zero_bubble(int stages, int micro_batches) {
  Schedule schedule;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Pass>& passes = schedule.emplace_back();
    const auto input_gradient = [&](int m) {
      passes.push_back({PassKind::kInputGradient, m, 0});
      if (m >= stage) passes.push_back({PassKind::kWeightGradient, m - stage, 0});
    };
    by_turns(
        std::min(stages - stage - 1, micro_batches), micro_batches,
        [&](int m) {
          passes.push_back({PassKind::kForward, m, 0});
        },
        input_gradient);
    for (int m = std::max(0, micro_batches - stage); m < micro_batches; ++m)
      passes.push_back({PassKind::kWeightGradient, m, 0});
  }
  return schedule;
}

}  // namespace infold::train
