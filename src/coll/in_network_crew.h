// The GPUs' collective engines as a crew: each walks its rank's in-network steps, without an SM.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "coll/crew.h"
#include "coll/engine_trace.h"
#include "coll/region_share.h"
#include "gpu/launch.h"
#include "inc/waves.h"

namespace infold::coll {

class InNetworkCrew final : public Crew {
 public:
  /// Requires: the machine's switches have units, and their ways meet for these GPUs.
  explicit InNetworkCrew(CrewContext context);
  ~InNetworkCrew() override;

  /// The engine starts when the stream has come to the collective.
  void enqueue(int rank, sim::Time at) override;
  Residency residency() const override { return {}; }
  std::vector<std::string> who_waits() const override;

 private:
  /// One rank's engine on its way through the steps. A step is begun when all of the one before is issued,
  /// or when all ranks have met.
  class Rank final : public gpu::Work,
                     public sim::Handler,
                     public RegionListener,
                     public gpu::UnitMover::Client {
   public:
    Rank(InNetworkCrew& crew, int rank);
    Rank(const Rank&) = delete;
    Rank& operator=(const Rank&) = delete;

    /// Nothing of the collective is under way any more.
    void leave() { shares_.clear(); }
    std::string why_waiting() const;

   private:
    void begin(gpu::KernelId id, int) override;
    void start(int, int) override {}
    void finished(int) override { crew_.rank_finished(rank_); }
    void handle(std::uint32_t) override;
    void replied(RegionShare& share, std::uint32_t offset, sim::Bytes bytes) override;
    void received(RegionShare& share, std::uint32_t offset, sim::Bytes bytes) override;
    gpu::UnitMover& mover(std::uint32_t) override { return mover_; }
    void task_issued() override;
    void task_complete() override { finish_if_done(); }
    void task_settled() override { finish_if_done(); }
    void begin_steps();
    sim::Time now() const { return crew_.context_.machine.events().now(); }
    void finish_if_done();
    const std::vector<Step>& steps() const { return crew_.context_.program.steps(rank_, 0); }

    InNetworkCrew& crew_;
    int rank_;
    gpu::UnitMover mover_;
    std::deque<RegionShare> shares_;                // a step each
    std::vector<std::optional<inc::Waves>> waves_;  // the same, of pushes to all
    std::unique_ptr<EngineTrace> trace_;            // null: tracing off
    std::size_t step_ = 0;
    bool meeting_ = false;
    sim::Bytes to_receive_;
    sim::Bytes to_reply_;
    gpu::KernelId kernel_ = 0;
    bool begun_ = false;
    bool done_ = false;
  };

  void rank_finished(int rank);

  CrewContext context_;
  std::vector<inc::RegionId> regions_;  // of the steps
  std::deque<Rank> ranks_;
  int finished_ = 0;
};

}  // namespace infold::coll
