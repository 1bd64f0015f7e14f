// One collective on a machine: its program, its connections, its runners, and when each rank was done.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "coll/buffers.h"
#include "coll/program.h"
#include "coll/runner.h"
#include "coll/values.h"
#include "gpu/machine.h"

namespace infold::coll {

/// The memory that a program's ranks work on.
Buffers::Sizes buffers_for(const Program& program);

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
    Buffers* buffers = nullptr;  ///< null: memory of its own
    std::size_t stream = 0;      ///< which of its GPUs' communication streams; those run side by side
  };
  /// `program` and `machine` must outlive it; `gpus[r]` is rank r's GPU.
  Execution(gpu::Machine& machine, const Program& program, std::vector<int> gpus, Options options);

  /// The host has enqueued the collective on this rank's stream at `at`: its kernel starts when the stream
  /// has come to it and SMs are free.
  void enqueue(int rank, sim::Time at);

  bool done() const { return ranks_done_ == program_.ranks; }
  sim::Time finished(int rank) const { return finished_[static_cast<std::size_t>(rank)]; }
  /// Of the ranks that are done.
  const Residency& residency() const { return residency_; }
  std::vector<std::string> who_waits() const;

 private:
  /// A rank's kernel: one workgroup a channel.
  class RankKernel final : public gpu::Work {
   public:
    RankKernel(Execution& owner, int rank) : owner_(owner), rank_(rank) {}
    void begin(gpu::KernelId id, int) override { id_ = id; }
    void start(int channel, int sm) override { owner_.workgroup_started(rank_, channel, sm); }
    void finished(int) override { owner_.rank_finished(rank_); }
    gpu::KernelId id() const { return id_; }

   private:
    Execution& owner_;
    int rank_;
    gpu::KernelId id_ = 0;
  };
  struct Workgroup {
    gpu::Mover* mover = nullptr;
    int sm = 0;
    sim::Time started;
  };

  void handle(std::uint32_t workgroup) override;
  void workgroup_started(int rank, int channel, int sm);
  void runner_done(Runner& runner) override;
  void rank_finished(int rank);
  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(program_.channels) +
           static_cast<std::size_t>(channel);
  }
  std::uint32_t connect(int from, int to, int channel);

  gpu::Machine& machine_;
  const Program& program_;
  std::vector<int> gpus_;
  Options options_;
  RunnerContext context_;
  std::vector<Connection> connections_;
  std::unique_ptr<Buffers> own_buffers_;
  std::vector<std::unique_ptr<Runner>> runners_;  // rank · channels + channel
  std::vector<Workgroup> workgroups_;             // the same
  std::vector<RankKernel> kernels_;
  std::vector<sim::Time> finished_;
  Residency residency_;
  int ranks_done_ = 0;
};

}  // namespace infold::coll
