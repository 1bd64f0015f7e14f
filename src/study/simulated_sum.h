// Vectors of all ranks, summed by the simulated machine: packets carry the values, and GPUs or switches add
// them where and when the timing model says so.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "coll/engine/execution.h"
#include "coll/program/values.h"
#include "gpu/machine.h"
#include "study/collective/collective_run.h"

namespace infold::study {

class SimulatedSum {
 public:
  /// An all-reduce of sums. What the job points to must outlive it.
  explicit SimulatedSum(const PreparedJob& prepared);

  struct Sums {
    sim::Time time;           ///< from when the ranks reach the collective to when the last rank ends
    std::uint64_t wrong = 0;  ///< elements, over all ranks, that are off by more than rounding explains
  };
  coll::Engine engine() const { return program_.engine; }
  /// Takes what each rank has, and replaces it with what it gets.
  sim::Result<Sums> add_up(std::span<std::vector<float>> ranks);

 private:
  coll::Program program_;
  gpu::Machine machine_;
  std::vector<int> gpus_;
  coll::Buffers buffers_;
  coll::Values values_;
  std::unique_ptr<coll::Execution> execution_;
};

}  // namespace infold::study
