// Several training steps, each a simulation of its own, on several threads. What comes of them does not
// depend on how many.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "study/step/step_run.h"

namespace infold::study {

/// Calls work(i) once for every i below `count`, from up to `threads` threads (0: as many as there are
/// cores).
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

/// The jobs' outcomes, in their order. `keep_going` is asked by one thread at a time, with the share of all.
std::vector<sim::Result<StepResult>> run_all(std::span<const StepJob> jobs, int threads,
                                             const KeepGoing& keep_going);

}  // namespace infold::study
