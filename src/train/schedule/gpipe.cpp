// GPipe: simple, and every micro-batch is under way at once. Its bubble is (stages - 1) / micro-batches of
// the ideal time.
#include "train/schedule/schedule.h"

namespace infold::train {

Schedule gpipe(int stages, int micro_batches) {
  std::vector<Pass> passes;
  passes.reserve(2 * static_cast<std::size_t>(micro_batches));
  for (int m = 0; m < micro_batches; ++m) passes.push_back({PassKind::kForward, m, 0});
  for (int m = 0; m < micro_batches; ++m) passes.push_back({PassKind::kBackward, m, 0});
  return Schedule(static_cast<std::size_t>(stages), passes);
}

}  // namespace infold::train
