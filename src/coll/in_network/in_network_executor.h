// The GPUs' collective engines as an executor: each goes through the in-network steps of its rank, without an
// SM.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "coll/engine/executor.h"
#include "coll/in_network/engine_trace.h"
#include "coll/in_network/rank_region.h"
#include "gpu/sm/launch.h"
#include "inc/waves.h"

namespace infold::coll {

class InNetworkExecutor final : public Executor {
 public:
  /// Requires: the machine's switches have units, and their ways meet for these GPUs.
  explicit InNetworkExecutor(ExecutorContext context);
  ~InNetworkExecutor() override;

  /// The engine starts when the stream has reached the collective.
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return {}; }
  std::vector<std::string> who_waits() const override;

 private:
  /// One rank's engine on its way through the steps. A step is begun when all of the one before is issued,
  /// or when all ranks have met.
  class Rank final : public gpu::Work,
                     public sim::Handler,
                     public RegionListener,
                     public gpu::SwitchClient::Client {
   public:
    Rank(InNetworkExecutor& executor, int rank);
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    /// Nothing of the collective is under way any more.
    void leave() { shares_.clear(); }
    std::string why_waiting() const;

   private:
    void begin(gpu::KernelId id, int) override;
    void start(int, int) override {}
    void finished(int) override { executor_.rank_finished(rank_); }
    void handle(std::uint32_t) override;
    void replied(RankRegion& share, std::uint32_t offset, sim::Bytes bytes) override;
    void received(RankRegion& share, std::uint32_t offset, sim::Bytes bytes) override;
    gpu::SwitchClient& pipeline(std::uint32_t) override { return pipeline_; }
    void task_issued() override;
    void task_complete() override { finish_if_done(); }
    void task_settled() override { finish_if_done(); }
    void begin_steps();
    sim::Time now() const { return executor_.context_.machine.events().now(); }
    void finish_if_done();
    const std::vector<Step>& steps() const { return executor_.context_.program.steps(rank_, 0); }

    InNetworkExecutor& executor_;
    int rank_;
    gpu::SwitchClient pipeline_;
    std::deque<RankRegion> shares_;                 // one per step
    std::vector<std::optional<inc::Waves>> waves_;  // one per step, for pushes to all
    std::unique_ptr<EngineTrace> trace_;            // null if tracing is off
    std::size_t step_ = 0;
    bool meeting_ = false;
    sim::Bytes to_receive_;
    sim::Bytes to_reply_;
    gpu::KernelId kernel_ = 0;
    bool begun_ = false;
    bool done_ = false;
  };

  void rank_finished(int rank);

  ExecutorContext context_;
  std::vector<inc::RegionId> regions_;  // one per step
  std::deque<Rank> ranks_;
  int finished_ = 0;
};

}  // namespace infold::coll
