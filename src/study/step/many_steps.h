// Several training steps, each a simulation of its own, on several threads. Their results do not depend on
// the number of threads.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "study/step/step_run.h"

namespace infold::study {

/// Calls work(i) once for every i below `count`, from up to `threads` threads (0: as many as there are
/// cores).
void in_parallel(std::size_t count, int threads, const std::function<void(std::size_t)>& work);

/// The results of the jobs, in their order. `keep_going` is called by one thread at a time, with the share of
/// all jobs that is done.
std::vector<sim::Result<StepResult>> run_all(std::span<const StepJob> jobs, int threads,
                                             const KeepGoing& keep_going);

}  // namespace infold::study
