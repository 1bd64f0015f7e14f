// One collective on a machine: its program, its connections, its runners, and when each rank was done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coll/program.h"
#include "coll/runner.h"
#include "coll/values.h"
#include "gpu/machine.h"

namespace infold::coll {

/// How workgroups spent the time in which they held an SM, all together.
struct Residency {
  sim::Time resident;
  sim::Time waiting;  ///< for data, for room, for acknowledgements

  Residency& operator+=(const Residency& o) {
    resident += o.resident;
    waiting += o.waiting;
    return *this;
  }
};

class Execution final : public RunnerOwner, public sim::Handler {
 public:
  struct Options {
    Values* values = nullptr;             ///< null: timing only; requires a functional machine otherwise
    sim::TraceRecorder* trace = nullptr;  ///< null: tracing off
    std::function<void(int rank, sim::Time at)> rank_done;
  };
  /// `program` and `machine` must outlive it; `gpus[r]` is rank r's GPU.
  Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options);

  /// The stream of this rank's GPU reaches the collective at `at`; its kernel starts a launch later.
  void enqueue(int rank, sim::Time at);

  bool done() const { return ranks_done_ == program_.ranks; }
  sim::Time finished(int rank) const { return finished_[static_cast<std::size_t>(rank)]; }
  /// Of the ranks that are done.
  const Residency& residency() const { return residency_; }
  std::vector<std::string> who_waits() const;

 private:
  void handle(std::uint32_t rank) override;
  void runner_done(Runner& runner) override;
  std::uint32_t connect(int from, int to);

  gpu::Machine& machine_;
  const Program& program_;
  std::vector<int> gpus_;
  Options options_;
  RunnerContext context_;
  std::vector<Connection> connections_;
  std::vector<std::unique_ptr<Runner>> runners_;      // rank · channels + channel
  std::vector<std::vector<gpu::Mover*>> workgroups_;  // of each rank
  std::vector<int> running_;                          // runners of each rank that are not done
  std::vector<sim::Time> started_;
  std::vector<sim::Time> ended_;  // sum over the rank's workgroups
  std::vector<sim::Time> finished_;
  Residency residency_;
  int ranks_done_ = 0;
};

}  // namespace infold::coll
