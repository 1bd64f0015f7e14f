// Workgroups of nvls without their executor: the test starts each rank's when it likes, and plays who is told
// of their end. Flags, fences and slots decide who waits for whom.
#include "coll/in_network/nvls_workgroup.h"

#include <gmock/gmock.h>

#include <deque>

#include "coll/algo/algorithms.h"

namespace infold::coll {
namespace {

using testing::HasSubstr;

constexpr int kRanks = 3;
constexpr sim::Bytes kChunk = 1_KiB;

/// A channel of nvls on three GPUs below one switch that reduces.
class NvlsScene final : public NvlsWorkgroup::Owner {
 public:
  struct Settings {
    Collective collective = Collective::kAllReduce;
    int rounds = 4;
    int slots = 2;
    bool zero_copy = false;
    sim::Time fence = 0_ns;
  };
  explicit NvlsScene(const Settings& s)
      : machine_(gpu::MachinePlan::make(machine_spec(s)).value(), {.burst = {}, .in_network = true}),
        program_(write_nvls({.collective = s.collective,
                             .bytes = kChunk * (s.rounds * kRanks),
                             .gpus = gpus_,
                             .fabric = &machine_.blueprint(),
                             .tuning = tuning(s),
                             .root = 1})),
        buffers_(machine_, gpus_,
                 {.input = program_.bytes, .output = program_.bytes + program_.scratch, .in_place = false}),
        context_{machine_, program_, gpus_, buffers_, nullptr, nullptr, 0, {}} {
    const sim::Bytes packet = sim::min(machine_.units()->spec().payload, machine_.units()->spec().sm_payload);
    const Step& step = program_.steps(0, 0).front();
    rounds_.emplace(step, kRanks, packet);
    inc::RegionPlan plan = region_plan(step, context_, packet);
    plan.part = sim::Bytes{rounds_->chunk()};
    plan.bytes = plan.part * (rounds_->parts() + kRanks);
    region_ = machine_.units()->regions().add(std::move(plan)).value();
    std::vector<NvlsWorkgroup*> all;
    for (int rank = 0; rank < kRanks; ++rank) {
      all.push_back(
          &workgroups_.emplace_back(NvlsWorkgroup::Setup{.rank = rank,
                                                         .channel = 0,
                                                         .step = &program_.steps(rank, 0).front(),
                                                         .region = region_,
                                                         .buffer = program_.bytes,
                                                         .slots = static_cast<std::uint32_t>(s.slots)},
                                    context_, *rounds_, *this));
    }
    for (NvlsWorkgroup& w : workgroups_) w.know(all);
  }
  /// Starts these ranks' workgroups now, and runs until nothing happens any more.
  void run(const std::vector<int>& ranks) {
    for (const int rank : ranks) (*this)[rank].start();
    machine_.events().run();
  }
  NvlsWorkgroup& operator[](int rank) { return workgroups_[static_cast<std::size_t>(rank)]; }
  gpu::Machine& machine() { return machine_; }
  std::uint32_t rounds() const { return rounds_->count(); }
  std::uint64_t written(int rank) { return machine_.gpu(rank).memory().traffic().total().l2_written; }
  sim::Time last() const { return last_; }
  /// Nothing is left anywhere.
  bool quiet() {
    for (NvlsWorkgroup& w : workgroups_) w.leave();
    machine_.units()->regions().remove(region_);
    return machine_.quiet();
  }

  std::vector<int> ended;  ///< ranks, in the order in which they were done

 private:
  static gpu::MachineSpec machine_spec(const Settings& s) {
    gpu::MachineSpec spec;
    spec.gpus = kRanks;
    spec.gpu.fence = s.fence;
    return spec;
  }
  static Tuning tuning(const Settings& s) {
    Tuning t;
    t.nvls.channels = 1;
    t.nvls.chunk = kChunk;
    t.nvls.slots = s.slots;
    t.nvls.zero_copy = s.zero_copy;
    return t;
  }
  void workgroup_done(NvlsWorkgroup& w) override {
    ended.push_back(w.rank());
    last_ = machine_.events().now();
  }

  std::vector<int> gpus_{0, 1, 2};
  gpu::Machine machine_;
  Program program_;
  Buffers buffers_;
  ExecutorContext context_;
  std::optional<Rounds> rounds_;
  inc::RegionId region_ = 0;
  std::deque<NvlsWorkgroup> workgroups_;
  sim::Time last_;
};

TEST(NvlsWorkgroup, EachIsDoneOnceWhenAllHaveReduced) {
  NvlsScene scene({});
  EXPECT_EQ(scene.rounds(), 4u);
  scene.run({0, 1, 2});
  EXPECT_THAT(scene.ended, testing::UnorderedElementsAre(0, 1, 2));
  for (int rank = 0; rank < kRanks; ++rank) {
    EXPECT_TRUE(scene[rank].done());
    EXPECT_EQ(scene[rank].why_waiting(), "");
    const auto vector = static_cast<std::uint64_t>((kChunk * (4 * kRanks)).count());
    EXPECT_EQ(scene.written(rank), 3 * vector) << "staged, multicast by the switches, copied out";
  }
  EXPECT_TRUE(scene.quiet());
}

TEST(NvlsWorkgroup, NobodyReducesARoundThatARankHasNotStaged) {
  NvlsScene scene({});
  scene.run({0, 2});
  EXPECT_TRUE(scene.ended.empty());
  EXPECT_EQ(scene[0].why_waiting(), "rank 0 channel 0 round 1 of 4: waits for rank 1 to stage its data");
  EXPECT_EQ(scene[1].why_waiting(), "") << "it has not been started";
  EXPECT_EQ(scene.written(1), 0u) << "no result reaches a rank that has not begun";
  scene.run({1});
  EXPECT_EQ(scene.ended.size(), 3u);
  EXPECT_TRUE(scene.quiet());
}

TEST(NvlsWorkgroup, StagesNoMoreRoundsThanItHasSlots) {
  for (const int slots : {1, 3}) {
    NvlsScene scene({.slots = slots});
    scene.run({0});
    EXPECT_EQ(scene.written(0), static_cast<std::uint64_t>((kChunk * (slots * kRanks)).count())) << slots;
    scene.run({1, 2});
    EXPECT_EQ(scene.ended.size(), 3u) << slots;
  }
}

TEST(NvlsWorkgroup, MoreSlotsLetRolesWorkOnDifferentRounds) {
  NvlsScene one({.slots = 1});
  NvlsScene many({.slots = 4});
  for (NvlsScene* scene : {&one, &many}) scene->run({0, 1, 2});
  EXPECT_LT(many.last(), one.last());
}

TEST(NvlsWorkgroup, FencesBeforeEachOfItsFlags) {
  NvlsScene prompt({.rounds = 1});
  NvlsScene fenced({.rounds = 1, .fence = 10'000_ns});
  for (NvlsScene* scene : {&prompt, &fenced}) scene->run({0, 1, 2});
  const sim::Time more = fenced.last() - prompt.last();
  EXPECT_GE(more, 19'000_ns) << "one fence behind what was staged and one behind what was reduced";
  EXPECT_LE(more, 21'000_ns) << "and none beyond; polls may see a flag a little later or sooner";
}

TEST(NvlsWorkgroup, WithZeroCopyOnlyTheSwitchesWrite) {
  NvlsScene scene({.zero_copy = true});
  scene.run({0, 2});
  EXPECT_EQ(scene.written(0), 0u);
  scene.run({1});
  for (int rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(scene.written(rank), static_cast<std::uint64_t>((kChunk * (4 * kRanks)).count())) << rank;
  EXPECT_TRUE(scene.quiet());
}

TEST(NvlsWorkgroup, WhereOnlyTheRootReducesOthersWaitForItAlone) {
  NvlsScene scene({.collective = Collective::kReduce});
  scene.run({0, 2});
  EXPECT_TRUE(scene.ended.empty());
  EXPECT_THAT(scene[0].why_waiting(), HasSubstr("waits for rank"));
  scene.run({1});
  EXPECT_EQ(scene.ended.size(), 3u);
  const auto vector = static_cast<std::uint64_t>((kChunk * (4 * kRanks)).count());
  EXPECT_EQ(scene.written(0), vector) << "what it staged";
  EXPECT_EQ(scene.written(1), 2 * vector) << "and at the root the sum";
  EXPECT_TRUE(scene.quiet());
}

}  // namespace
}  // namespace infold::coll
