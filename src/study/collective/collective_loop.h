// The collectives of one communicator back to back: there are as many executions as iterations, and each rank
// starts one when it has ended the last. Several loops may run at once on a machine, on the same GPUs or on
// others.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "coll/engine/execution.h"
#include "coll/program/values.h"
#include "gpu/machine.h"
#include "study/collective/collective_run.h"

namespace infold::study {

class CollectiveLoop {
 public:
  /// `program` and `machine` must outlive it; rank r is GPU gpus[r]. Loops with different seeds, from 1 on,
  /// have different values and run side by side.
  CollectiveLoop(const CollectiveJob& job, gpu::Machine& machine, const coll::Program& program,
                 std::vector<int> gpus, std::uint64_t seed, sim::TraceRecorder* trace = nullptr);

  /// Begins no further iteration; what is under way runs to its end.
  void stop() { stopped_ = true; }
  /// Whether every rank has ended the last iteration. This is only meaningful when no event is left.
  bool done() const { return executions_.back()->done(); }
  /// The times at which all ranks had ended each iteration, in order.
  const std::vector<sim::Time>& ends() const { return ends_; }
  /// Requires: the job is checked.
  std::uint64_t wrong() const { return values_->wrong(); }
  coll::Values::Error error() const { return values_->error(); }
  coll::Residency residency() const;
  std::vector<std::string> who_waits() const;

 private:
  void enqueue(int iteration, int rank, sim::Time at);
  void rank_done(int iteration, int rank, sim::Time at);
  void record(int iteration, int rank, sim::Time at);

  const CollectiveJob& job_;
  gpu::Machine& machine_;
  const coll::Program& program_;
  std::vector<int> gpus_;
  coll::Buffers buffers_;
  std::size_t stream_;  // the stream of its GPUs
  std::unique_ptr<coll::Values> values_;
  std::vector<std::unique_ptr<coll::Execution>> executions_;
  std::vector<sim::Time> ends_;
  sim::TraceRecorder* trace_;       // null if nothing is recorded
  std::vector<sim::Time> started_;  // by rank: when it started its present iteration; for the trace
  bool stopped_ = false;
};

}  // namespace infold::study
