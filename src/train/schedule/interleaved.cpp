// Interleaved 1F1B: a stage has several parts of the model, chunk c of stage s being part c * stages + s.
// Micro-batches go round in groups of as many as there are stages, so that the pipeline is full after a
// fraction of the time: the bubble is (stages - 1) / (chunks * micro-batches) of the ideal time.
#include <algorithm>

#include "train/schedule/schedule.h"

namespace infold::train {

namespace {

/// The k-th pass of a stage in one direction.
Pass nth_pass(PassKind kind, int k, int stages, int chunks) {
  const int round = k / (stages * chunks);
  const int within = k % (stages * chunks);
  const int chunk = within / stages;
  return {kind, round * stages + within % stages, kind == PassKind::kForward ? chunk : chunks - 1 - chunk};
}

}  // namespace

Schedule interleaved(int stages, int micro_batches, int chunks) {
  Schedule schedule;
  const int all = micro_batches * chunks;
  for (int stage = 0; stage < stages; ++stage) {
    std::vector<Pass>& passes = schedule.emplace_back();
    by_turns(
        std::min((stages - stage - 1) * 2 + (chunks - 1) * stages, all), all,
        [&](int k) { passes.push_back(nth_pass(PassKind::kForward, k, stages, chunks)); },
        [&](int k) { passes.push_back(nth_pass(PassKind::kBackward, k, stages, chunks)); });
  }
  return schedule;
}

}  // namespace infold::train
