// A rank's kernel of communication workgroups. There is one for each channel, and each has an SM of its own
// from its start to its end.
#pragma once

#include <vector>

#include "coll/engine/executor.h"
#include "gpu/sm/launch.h"

namespace infold::coll {

class WorkgroupKernel final : public gpu::Work {
 public:
  class Owner {
   public:
    /// The workgroup of a channel has an SM from now on.
    virtual void workgroup_started(int rank, int channel) = 0;
    /// All workgroups of a rank are done.
    virtual void kernel_finished(int rank) = 0;

   protected:
    ~Owner() = default;
  };

  /// `owner` and `context` outlive the kernel.
  WorkgroupKernel(Owner& owner, const ExecutorContext& context, int rank);

  /// Puts the kernel on the rank's stream.
  void enqueue(int threads, sim::Time at);
  /// For how long the workgroup has held its SM.
  sim::Time held(int channel) const;
  /// The workgroup gives back its SM. The last one ends the kernel, of which the owner is told at once.
  void workgroup_done(int channel);

 private:
  struct Workgroup {
    int sm = 0;
    sim::Time started;
  };

  void begin(gpu::KernelId id, int) override { id_ = id; }
  void start(int channel, int sm) override;
  void finished(int) override { owner_.kernel_finished(rank_); }

  Owner& owner_;
  const ExecutorContext& context_;
  int rank_;
  gpu::KernelId id_ = 0;
  std::vector<Workgroup> workgroups_;  // by channel
};

}  // namespace infold::coll
