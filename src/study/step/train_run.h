// One training step on one GPU, without communication.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gpu/gpu_spec.h"
#include "sim/result.h"
#include "sim/units.h"
#include "study/collective/collective_run.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/recipe.h"

namespace infold::study {

struct TrainJob {
  const train::Graph* graph = nullptr;
  train::Recipe recipe;
  bool ignore_memory = false;
  std::optional<sim::TraceSpec> trace = {};  ///< none: nothing is recorded
};

/// Time by what kernels are. Gaps between kernels belong to none.
struct KernelTimes {
  sim::Time products;
  sim::Time convolutions;
  sim::Time attention;
  sim::Time streaming;
};

/// Of one pass and one update. With gradients accumulated over several passes, step() has them all.
struct TrainResult {
  sim::Time forward;
  sim::Time backward;  ///< first gradient kernel's start to the last one's end
  sim::Time optimizer;
  sim::Time end;  ///< of the optimizer, counted from the start
  KernelTimes times;
  train::MemoryNeed memory;
  double flops = 0;  ///< of the step's kernels
  std::size_t kernels = 0;
  std::uint64_t hbm_bytes = 0;
  std::uint64_t events = 0;
  std::optional<sim::TraceRecorder> trace;  ///< where the job asks for one

  /// `passes` times forward and backward, each like the one that was simulated, then the update.
  sim::Time step(int passes) const { return (end - optimizer) * passes + optimizer; }
};

/// Why a step that needs so much memory is not simulated, if so, and what would help.
sim::Status check_memory(const gpu::GpuSpec& gpu, const train::MemoryNeed& need, const train::Recipe& recipe,
                         bool ignore_memory);

/// Refused: it does not fit the GPU's memory.
sim::Result<TrainResult> run(const gpu::GpuSpec& gpu, const TrainJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
