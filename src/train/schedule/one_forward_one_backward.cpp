// 1F1B: a stage begins backward as soon as it can and then works in both directions by turns. Stage s has at
// most stages - s micro-batches under way; the bubble is that of GPipe.
#include <algorithm>

#include "train/schedule/schedule.h"

namespace infold::train {

Schedule one_forward_one_backward(int stages, int micro_batches) {
  Schedule schedule;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Pass>& passes = schedule.emplace_back();
    by_turns(
        std::min(stages - stage - 1, micro_batches), micro_batches,
        [&](int m) {
          passes.push_back({PassKind::kForward, m, 0});
        },
        [&](int m) {
          passes.push_back({PassKind::kBackward, m, 0});
        });
  }
  return schedule;
}

}  // namespace infold::train
