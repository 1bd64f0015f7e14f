// One collective on a machine: its program, the executor that carries it out, and when each rank was done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/engine/executor.h"
#include "coll/program/program.h"
#include "coll/program/values.h"
#include "gpu/machine.h"

namespace infold::coll {

/// The memory that the ranks of a program work on.
Buffers::Sizes buffers_for(const Program& program);

class Execution {
 public:
  struct Options {
    Values* values = nullptr;  ///< null if only timing is simulated; otherwise requires a functional machine
    sim::TraceRecorder* trace = nullptr;  ///< null if tracing is off
    std::function<void(int rank, sim::Time at)> rank_done;
    Buffers* buffers = nullptr;  ///< null means memory of its own
    std::size_t stream = 0;      ///< which of the communication streams of its GPUs; these run side by side
  };
  /// `program` and `machine` must outlive it; `gpus[r]` is rank r's GPU.
  Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options);
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  /// The host has enqueued the collective on this rank's stream at `at`. It starts when the stream has
  /// reached it and the executor is free.
  void enqueue(int rank, sim::Time at) { executor_->enqueue(rank, at); }

  bool done() const { return ranks_done_ == program_.ranks; }
  sim::Time finished(int rank) const { return finished_[static_cast<std::size_t>(rank)]; }
  /// Covers the ranks that are done.
  Residency residency() const { return executor_->residency(); }
  std::vector<std::string> who_waits() const { return executor_->who_waits(); }

 private:
  void rank_finished(int rank);

  gpu::Machine& machine_;
  const Program& program_;
  std::vector<int> gpus_;
  Options options_;
  std::unique_ptr<Buffers> own_buffers_;
  std::vector<sim::Time> finished_;
  int ranks_done_ = 0;
  std::unique_ptr<Executor> executor_;
};

}  // namespace infold::coll
