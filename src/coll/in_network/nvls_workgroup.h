// A workgroup that uses the switches, as the library's NVLS kernels do. Its warps have three roles, which
// work on different rounds at the same time: scatter copies a round into the registered buffer, reduce has
// the switches sum its chunk and multicasts the sum, and gather copies the round out. Flags pass whole rounds
// from role to role. A rank that has staged a round sets its own flag, which reducers poll through the
// switches. A rank that has reduced its chunk sets the flags of all ranks.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "coll/in_network/nvls_trace.h"
#include "coll/in_network/staged_region.h"
#include "coll/in_network/switch_poll.h"
#include "gpu/copy/warp_copier.h"

namespace infold::coll {

class NvlsWorkgroup final : public gpu::WarpCopier::Client,
                            public gpu::SwitchClient::Client,
                            public RegionListener,
                            public SwitchPoll::Owner,
                            public sim::Handler {
 public:
  class Owner {
   public:
    virtual void workgroup_done(NvlsWorkgroup& workgroup) = 0;

   protected:
    ~Owner() = default;
  };
  struct Setup {
    int rank = 0;
    int channel = 0;
    const Step* step = nullptr;
    inc::RegionId region = 0;
    sim::Bytes buffer;  ///< where its registered buffer begins in the rank's output memory
    std::uint32_t slots = 1;
  };
  NvlsWorkgroup(const Setup& setup, const ExecutorContext& context, const Rounds& rounds, Owner& owner);

  /// The flag of this workgroup that `from` sets when it has reduced its chunk of a round.
  gpu::SignalId reduced_flag(int from) const { return reduced_flags_[static_cast<std::size_t>(from)]; }
  /// Sets the workgroups of the same channel on all ranks, by rank. Requires: it is called before start.
  void know(std::vector<NvlsWorkgroup*> others) { others_ = std::move(others); }
  void start();

  int rank() const { return setup_.rank; }
  int channel() const { return setup_.channel; }
  bool done() const { return done_; }
  std::string why_waiting() const;
  /// How long no warp had anything to do.
  sim::Time waited() const { return waited_; }
  /// Leaves the region. Requires: nothing of the collective is under way any more, on any GPU.
  void leave() { share_.reset(); }
  /// Requires: all workgroups of the collective are done, so all flags have been seen.
  void release_flags();

 private:
  enum Role : std::uint32_t { kScatter, kGather };
  enum Event : std::uint32_t { kReduced, kScatterFenced, kReduceFenced };
  static constexpr std::uint32_t kEvents = 3;

  void handle(std::uint32_t event) override;
  // gpu::WarpCopier::Client
  void copied(std::uint32_t role, std::size_t piece, std::uint32_t offset, std::uint32_t bytes) override;
  void copy_complete(std::uint32_t role) override;
  // gpu::SwitchClient::Client
  void task_issued() override;
  void task_complete() override;
  // RegionListener
  gpu::SwitchClient& pipeline(std::uint32_t part) override {
    return share_->is_flag(part) ? poll_->pipeline() : pipeline_;
  }
  void replied(RankRegion&, std::uint32_t offset, sim::Bytes) override;
  void received(RankRegion&, std::uint32_t, sim::Bytes) override {}
  // SwitchPoll::Owner
  void poll_answered(std::uint32_t least) override;
  std::uint32_t least_flag() const override;

  void advance();
  bool scatter();
  bool reduce();
  bool gather();
  bool staged();
  bool reduced(std::uint32_t round) const;
  void tell_staged();
  void tell_reduced();
  void fence(Event then);
  void copy_round(Role role);
  std::unique_ptr<gpu::WarpCopier> copier(Role role, int warps);
  bool reduces_here() const;
  void note_idle();
  void note_trace();

  Setup setup_;
  const ExecutorContext& context_;
  const Rounds& rounds_;
  Owner& owner_;
  std::unique_ptr<StagedRegion> share_;
  gpu::Gpu& gpu_;
  gpu::LoadBudget loads_;  // the loads of its SM, for the warps of all roles
  gpu::SwitchClient pipeline_;
  std::unique_ptr<SwitchPoll> poll_;                         // polls for the staged rounds of all ranks
  std::array<std::unique_ptr<gpu::WarpCopier>, 2> copiers_;  // by role
  std::vector<NvlsWorkgroup*> others_;
  std::vector<gpu::SignalId> reduced_flags_;
  std::vector<std::uint32_t> reduced_;  // rounds, by rank
  std::uint32_t seen_staged_ = 0;       // rounds that all ranks are known to have staged

  struct Copy {
    std::uint32_t round = 0;
    std::vector<gpu::WarpCopier::Piece> pieces;  ///< the pieces of the round, in functional mode
    bool busy = false;
  };
  std::array<Copy, 2> copies_;
  std::uint32_t told_staged_ = 0;  // rounds whose flags are sent
  std::uint32_t reducing_ = 0;     // the next round to be reduced
  std::uint32_t told_reduced_ = 0;
  std::unique_ptr<NvlsTrace> trace_;  // null if tracing is off
  sim::Time idle_since_ = sim::Time::never();
  sim::Time waited_;
  bool started_ = false;
  bool done_ = false;
  bool advancing_ = false;
};

}  // namespace infold::coll
