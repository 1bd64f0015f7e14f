// SM workgroups as an executor: there is a kernel on each rank's GPU with one workgroup per channel, each of
// which owns its SM.
#pragma once

#include <vector>

#include "coll/engine/connection_set.h"
#include "coll/engine/executor.h"
#include "gpu/kernel/kernel.h"

namespace infold::coll {

class SmExecutor final : public Executor, public ProtocolOwner, public sim::Handler {
 public:
  explicit SmExecutor(ExecutorContext context);

  /// A rank's kernel starts when the stream has reached it and SMs are free.
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return residency_; }
  std::vector<std::string> who_waits() const override { return connection_set_.who_waits(); }

 private:
  /// The kernel of a rank, with one workgroup per channel.
  class RankKernel final : public gpu::Work {
   public:
    RankKernel(SmExecutor& owner, int rank) : owner_(owner), rank_(rank) {}
    void begin(gpu::KernelId id, int) override { id_ = id; }
    void start(int channel, int sm) override { owner_.workgroup_started(rank_, channel, sm); }
    void finished(int) override { owner_.context_.rank_finished(rank_); }
    gpu::KernelId id() const { return id_; }

   private:
    SmExecutor& owner_;
    int rank_;
    gpu::KernelId id_ = 0;
  };
  struct Workgroup {
    gpu::CopyPipeline* pipeline = nullptr;
    int sm = 0;
    sim::Time started;
  };

  void handle(std::uint32_t workgroup) override;
  void workgroup_started(int rank, int channel, int sm);
  void channel_done(ChannelProtocol& channel) override;

  ExecutorContext context_;
  ConnectionSet connection_set_;
  std::vector<Workgroup> workgroups_;  // indexed by rank · channels + channel
  std::vector<RankKernel> kernels_;
  Residency residency_;
};

}  // namespace infold::coll
