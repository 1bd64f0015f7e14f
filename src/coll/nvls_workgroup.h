// A workgroup that uses the switches, as the library's NVLS kernels do. Its warps have three roles that work
// on different rounds at the same time: scatter copies a round into the registered buffer, reduce has the
// switches sum its chunk and multicasts that, gather copies the round out. Flags between all ranks hand a
// round on from role to role, whole.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "coll/staged_share.h"
#include "gpu/mover.h"

namespace infold::coll {

class NvlsWorkgroup final : public gpu::MoveClient,
                            public gpu::UnitMover::Client,
                            public RegionListener,
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
  NvlsWorkgroup(const Setup& setup, const CrewContext& context, const Rounds& rounds, Owner& owner);

  /// Flags of this workgroup that others set: `from` has staged a round, or has reduced its chunk of one.
  gpu::SignalId staged_flag(int from) const { return staged_flags_[static_cast<std::size_t>(from)]; }
  gpu::SignalId reduced_flag(int from) const { return reduced_flags_[static_cast<std::size_t>(from)]; }
  /// `others`: the same channel's workgroups of all ranks, by rank.
  void start(std::vector<NvlsWorkgroup*> others);

  int rank() const { return setup_.rank; }
  int channel() const { return setup_.channel; }
  bool done() const { return done_; }
  std::string why_waiting() const;
  /// How long no warp had anything to do.
  sim::Time waited() const { return waited_; }
  /// Nothing of the collective is under way any more, on any GPU.
  void leave() { share_.reset(); }

 private:
  enum Role : std::uint32_t { kScatter, kGather };
  enum Event : std::uint32_t { kStaged, kReduced, kScatterFenced, kReduceFenced };
  static constexpr std::uint32_t kEvents = 4;

  void handle(std::uint32_t event) override;
  // gpu::MoveClient
  void move_issued(std::uint32_t) override {}
  void move_complete(std::uint32_t role) override;
  void produce(std::uint32_t role, std::uint32_t offset, std::span<std::byte> out) override;
  void consume(std::uint32_t, std::uint32_t, std::span<const std::byte>) override {}
  // gpu::UnitMover::Client
  void task_issued() override;
  void task_complete() override;
  // RegionListener
  gpu::UnitMover& mover(std::uint32_t) override { return mover_; }
  void replied(RegionShare&, std::uint32_t, sim::Bytes) override {}
  void received(RegionShare&, std::uint32_t, sim::Bytes) override {}

  void advance();
  bool scatter();
  bool reduce();
  bool gather();
  void tell(bool staged);
  void fence(Event then);
  bool copy_next(Role role);
  bool reduces_here() const;
  void note_idle();
  bool all(const std::vector<std::uint32_t>& counts, std::uint32_t round, bool heads_only) const;

  Setup setup_;
  const CrewContext& context_;
  const Rounds& rounds_;
  Owner& owner_;
  std::unique_ptr<StagedShare> share_;
  gpu::Gpu& gpu_;
  gpu::UnitMover mover_;
  std::array<gpu::Mover*, 2> copiers_{};  // by role
  std::vector<NvlsWorkgroup*> others_;
  std::vector<gpu::SignalId> staged_flags_;
  std::vector<gpu::SignalId> reduced_flags_;
  std::vector<std::uint32_t> staged_;   // rounds, by rank
  std::vector<std::uint32_t> reduced_;  // the same

  struct Copy {
    std::uint32_t round = 0;
    std::uint32_t next = 0;  ///< chunk of the round to copy
    std::int64_t from = 0;
    std::int64_t to = 0;
    bool busy = false;
  };
  std::array<Copy, 2> copies_;
  std::uint32_t told_staged_ = 0;  // rounds whose flags are sent
  std::uint32_t reducing_ = 0;     // the next round to be reduced
  std::uint32_t told_reduced_ = 0;
  sim::Time idle_since_ = sim::Time::never();
  sim::Time waited_;
  bool started_ = false;
  bool done_ = false;
  bool advancing_ = false;
};

}  // namespace infold::coll
