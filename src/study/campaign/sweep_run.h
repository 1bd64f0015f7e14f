// Runs the points of a sweep that have no result yet, several at a time.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/campaign/sweep.h"
#include "study/campaign/sweep_store.h"

namespace infold::study {

/// Runs one point. Returns nothing when the run was stopped, so that the point must be run another time.
/// Called from several threads.
using RunPoint = std::function<std::optional<PointResult>(const std::vector<std::string>& words)>;

struct SweepProgress {
  std::size_t points = 0;
  std::size_t finished = 0;    ///< number of finished points
  std::size_t begun_with = 0;  ///< how many of these were finished before this run
};
/// Called by one thread at a time, after every point; returns false to stop.
using SweepGoesOn = std::function<bool(const SweepProgress& progress)>;

/// Checks whether the first result is what was expected, so that a user need not wait for all of them. An
/// error ends the run.
using CheckFirst = std::function<sim::Status(const PointResult& first)>;

struct SweepOutcome {
  SweepProgress progress;
  sim::Status first;   ///< the result of check_first
  sim::Status stored;  ///< if the store takes no more, the reason
  bool complete() const { return progress.finished == progress.points; }
};

/// If `threads` is 0, there are as many as cores.
SweepOutcome run(const Sweep& sweep, SweepStore& store, int threads, const RunPoint& run_point,
                 const SweepGoesOn& goes_on, const CheckFirst& check_first = {});

}  // namespace infold::study
