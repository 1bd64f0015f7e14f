// SM workgroups as an executor: there is a kernel on each rank's GPU with one workgroup per channel, each of
// which owns its SM.
#pragma once

#include <vector>

#include "coll/engine/connection_set.h"
#include "coll/engine/executor.h"
#include "coll/engine/workgroup_kernel.h"

namespace infold::coll {

class SmExecutor final : public Executor,
                         public ProtocolOwner,
                         public WorkgroupKernel::Owner,
                         public sim::Handler {
 public:
  explicit SmExecutor(ExecutorContext context);

  /// A rank's kernel starts when the stream has reached it and SMs are free.
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return residency_; }
  std::vector<std::string> who_waits() const override { return connection_set_.who_waits(); }

 private:
  void handle(std::uint32_t workgroup) override;
  void workgroup_started(int rank, int channel) override;
  void kernel_finished(int rank) override { context_.rank_finished(rank); }
  void channel_done(ChannelProtocol& channel) override;

  ExecutorContext context_;
  ConnectionSet connection_set_;
  std::vector<gpu::CopyPipeline*> pipelines_;  // indexed by rank · channels + channel
  std::vector<WorkgroupKernel> kernels_;       // by rank
  Residency residency_;
};

}  // namespace infold::coll
