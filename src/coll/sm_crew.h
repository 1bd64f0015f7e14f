// SM workgroups as a crew: a kernel on each rank's GPU, one workgroup a channel, each owning its SM.
#pragma once

#include <vector>

#include "coll/crew.h"
#include "coll/wiring.h"
#include "gpu/kernel.h"

namespace infold::coll {

class SmCrew final : public Crew, public RunnerOwner, public sim::Handler {
 public:
  explicit SmCrew(CrewContext context);

  /// A rank's kernel starts when the stream has come to it and SMs are free.
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return residency_; }
  std::vector<std::string> who_waits() const override { return wiring_.who_waits(); }

 private:
  /// A rank's kernel: one workgroup a channel.
  class RankKernel final : public gpu::Work {
   public:
    RankKernel(SmCrew& owner, int rank) : owner_(owner), rank_(rank) {}
    void begin(gpu::KernelId id, int) override { id_ = id; }
    void start(int channel, int sm) override { owner_.workgroup_started(rank_, channel, sm); }
    void finished(int) override { owner_.context_.rank_finished(rank_); }
    gpu::KernelId id() const { return id_; }

   private:
    SmCrew& owner_;
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

  CrewContext context_;
  Wiring wiring_;
  std::vector<Workgroup> workgroups_;  // rank · channels + channel
  std::vector<RankKernel> kernels_;
  Residency residency_;
};

}  // namespace infold::coll
