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
    const int ahead = std::min(stages - stage - 1, micro_batches);
    for (int m = 0; m < ahead; ++m) passes.push_back({PassKind::kForward, m, 0});
    for (int m = 0; m < micro_batches; ++m) {
      if (m + ahead < micro_batches) passes.push_back({PassKind::kForward, m + ahead, 0});
      passes.push_back({PassKind::kInputGradient, m, 0});
      if (m >= stage) passes.push_back({PassKind::kWeightGradient, m - stage, 0});
    }
    for (int m = std::max(0, micro_batches - stage); m < micro_batches; ++m)
      passes.push_back({PassKind::kWeightGradient, m, 0});
  }
  return schedule;
}

}  // namespace infold::train
