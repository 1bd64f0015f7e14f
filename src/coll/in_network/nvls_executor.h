// SM workgroups that use the switches as an executor: there is a kernel on each rank's GPU, with one
// workgroup per channel.
#pragma once

#include <deque>
#include <vector>

#include "coll/engine/executor.h"
#include "coll/engine/workgroup_kernel.h"
#include "coll/in_network/nvls_workgroup.h"

namespace infold::coll {

class NvlsExecutor final : public Executor,
                           public NvlsWorkgroup::Owner,
                           public WorkgroupKernel::Owner,
                           public sim::Handler {
 public:
  /// Requires: the machine's switches have units, and their ways meet for these GPUs.
  explicit NvlsExecutor(ExecutorContext context);
  ~NvlsExecutor() override;

  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return residency_; }
  std::vector<std::string> who_waits() const override;

 private:
  void handle(std::uint32_t workgroup) override;
  void workgroup_started(int rank, int channel) override;
  void workgroup_done(NvlsWorkgroup& workgroup) override;
  void kernel_finished(int rank) override;
  void leave();
  std::size_t index_of(int rank, int channel) const {
    return static_cast<std::size_t>(rank) * static_cast<std::size_t>(context_.program.channels) +
           static_cast<std::size_t>(channel);
  }

  ExecutorContext context_;
  std::deque<Rounds> rounds_;             // by channel
  std::vector<inc::RegionId> regions_;    // indexed by channel
  std::deque<NvlsWorkgroup> workgroups_;  // indexed by rank · channels + channel
  std::vector<WorkgroupKernel> kernels_;  // by rank
  Residency residency_;
  int finished_ = 0;
};

}  // namespace infold::coll
