// Points are taken in order; each result is stored as soon as it is there.
#include "study/campaign/sweep_run.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "study/step/many_steps.h"

namespace infold::study {

SweepOutcome run(const Sweep& sweep, SweepStore& store, int threads, const RunPoint& run_point,
                 const SweepGoesOn& goes_on, const CheckFirst& check_first) {
  std::vector<std::size_t> missing;
  for (std::size_t point = 0; point < store.finished().size(); ++point) {
    if (!store.finished()[point]) missing.push_back(point);
  }
  SweepOutcome outcome;
  outcome.progress.points = store.finished().size();
  outcome.progress.begun_with = outcome.progress.points - missing.size();
  outcome.progress.finished = outcome.progress.begun_with;
  std::atomic<bool> stop = !goes_on(outcome.progress);
  std::mutex storing;
  bool looked = false;  // whether the first result was checked
  in_parallel(missing.size(), threads, [&](std::size_t i) {
    if (stop) return;
    const std::size_t point = missing[i];
    const std::optional<PointResult> result = run_point(sweep.words(point));
    const std::lock_guard lock(storing);
    if (check_first && !looked && result && result->status == PointStatus::kDone) {
      looked = true;
      outcome.first = check_first(*result);
    }
    if (!outcome.stored) return;
    if (result) {
      outcome.stored = store.put(point, sweep.values(point), *result);
      if (outcome.stored) ++outcome.progress.finished;
    }
    if (!goes_on(outcome.progress) || !outcome.first || !outcome.stored) stop = true;
  });
  return outcome;
}

}  // namespace infold::study
