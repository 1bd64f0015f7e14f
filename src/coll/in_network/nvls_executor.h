// SM workgroups that use the switches as an executor: there is a kernel on each rank's GPU, with one
// workgroup per channel.
#pragma once

#include <deque>
#include <vector>

#include "coll/engine/executor.h"
#include "coll/in_network/nvls_workgroup.h"
#include "gpu/sm/launch.h"

namespace infold::coll {

class NvlsExecutor final : public Executor, public NvlsWorkgroup::Owner, public sim::Handler {
 public:
  /// Requires: the machine's switches have units, and their ways meet for these GPUs.
  explicit NvlsExecutor(ExecutorContext context);
  ~NvlsExecutor() override;

  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return residency_; }
  std::vector<std::string> who_waits() const override;

 private:
  class RankKernel final : public gpu::Work {
   public:
    RankKernel(NvlsExecutor& owner, int rank) : owner_(owner), rank_(rank) {}
    void begin(gpu::KernelId id, int) override { id_ = id; }
    void start(int channel, int sm) override { owner_.started(rank_, channel, sm); }
    void finished(int) override { owner_.rank_finished(rank_); }
    gpu::KernelId id() const { return id_; }

   private:
    NvlsExecutor& owner_;
    int rank_;
    gpu::KernelId id_ = 0;
  };
  struct OnSm {
    int sm = 0;
    sim::Time since;
  };

  void handle(std::uint32_t workgroup) override;
  void started(int rank, int channel, int sm);
  void workgroup_done(NvlsWorkgroup& workgroup) override;
  void rank_finished(int rank);
  void leave();
  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(context_.program.channels) +
           static_cast<std::size_t>(channel);
  }

  ExecutorContext context_;
  std::deque<Rounds> rounds_;             // by channel
  std::vector<inc::RegionId> regions_;    // indexed by channel
  std::deque<NvlsWorkgroup> workgroups_;  // indexed by rank · channels + channel
  std::vector<OnSm> on_sm_;               // indexed by rank · channels + channel
  std::vector<RankKernel> kernels_;
  Residency residency_;
  int finished_ = 0;
};

}  // namespace infold::coll
