// One training step on one GPU, without communication.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "gpu/gpu_spec.h"
#include "sim/result.h"
#include "sim/units.h"
#include "study/collective/collective_run.h"
#include "study/step/step_history.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/recipe.h"

namespace infold::study {

struct TrainJob {
  const train::Graph* graph = nullptr;
  train::Recipe recipe;
  bool ignore_memory = false;
  std::optional<sim::TraceSpec> trace = {};  ///< nothing is recorded if there is none
};

/// Time by kind of kernel. Gaps between kernels are not counted.
struct KernelTimes {
  sim::Time products;
  sim::Time convolutions;
  sim::Time attention;
  sim::Time streaming;
};

/// The result of one pass and one update. With gradients accumulated over several passes, step() counts all
/// of them.
struct TrainResult {
  sim::Time forward;
  sim::Time backward;  ///< from the start of the first gradient kernel to the end of the last
  sim::Time optimizer;
  sim::Time end;  ///< the end of the optimizer, counted from the start
  KernelTimes times;
  train::MemoryNeed memory;
  double flops = 0;  ///< floating-point operations of the step's kernels
  std::size_t kernels = 0;
  std::uint64_t hbm_bytes = 0;
  std::uint64_t events = 0;
  std::optional<sim::TraceRecorder> trace;  ///< if the job asks for one
  StepHistory history;                      ///< memory over time

  /// `passes` times forward and backward, each like the one that was simulated, then the update.
  sim::Time step(int passes) const { return (end - optimizer) * passes + optimizer; }
};

/// Operations per second of products in the recipe's number format, at the clock of the data sheet: what
/// MFU is counted against.
double peak_flops(const gpu::GpuSpec& gpu, const train::Recipe& recipe);

/// Fails if a step that needs this much memory is not simulated, with what `advice` says would help.
sim::Status check_memory(const gpu::GpuSpec& gpu, const train::MemoryNeed& need, bool ignore_memory,
                         const std::function<std::string()>& advice);

/// Refused: it does not fit the GPU's memory.
sim::Result<TrainResult> run(const gpu::GpuSpec& gpu, const TrainJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
