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

/// What a point gives; nothing when it was stopped on the way, so that it must be run another time. Called
/// from several threads.
using RunPoint = std::function<std::optional<PointResult>(const std::vector<std::string>& words)>;

struct SweepProgress {
  std::size_t points = 0;
  std::size_t finished = 0;    ///< of all
  std::size_t begun_with = 0;  ///< of these, before this run
};
/// Asked by one thread at a time, after every point; false asks to stop.
using SweepGoesOn = std::function<bool(const SweepProgress& progress)>;

/// Whether the first result is what was expected, so that not all need to be waited for. An error ends the
/// run.
using CheckFirst = std::function<sim::Status(const PointResult& first)>;

struct SweepOutcome {
  SweepProgress progress;
  sim::Status first;   ///< what check_first says
  sim::Status stored;  ///< or why the store takes no more
  bool complete() const { return progress.finished == progress.points; }
};

/// `threads` 0: as many as there are cores.
SweepOutcome run(const Sweep& sweep, SweepStore& store, int threads, const RunPoint& run_point,
                 const SweepGoesOn& goes_on, const CheckFirst& check_first = {});

}  // namespace infold::study
