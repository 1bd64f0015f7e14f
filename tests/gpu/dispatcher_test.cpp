// Streams, priorities, whole SMs, and grids that must be resident together.
#include "gpu/sm/dispatcher.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;
using ::testing::ElementsAre;

/// A kernel whose workgroups take a fixed time.
class Sleep final : public Work, public sim::Handler {
 public:
  Sleep(Dispatcher& d, sim::EventQueue& events, sim::Time time) : d_(d), events_(events), time_(time) {}
  void begin(KernelId id, int workgroups) override {
    id_ = id;
    began = events_.now();
    grid = workgroups;
  }
  void start(int, int sm) override {
    starts.push_back(events_.now());
    sms.push_back(sm);
    events_.schedule(events_.now() + time_, sim::Priority::kWork, *this, static_cast<std::uint32_t>(sm));
  }
  void finished(int most_resident) override {
    ended = events_.now();
    most = most_resident;
  }
  void handle(std::uint32_t sm) override { d_.workgroup_done(id_, static_cast<int>(sm)); }

  sim::Time began;
  sim::Time ended;
  int grid = 0;
  int most = 0;
  std::vector<sim::Time> starts;
  std::vector<int> sms;

 private:
  Dispatcher& d_;
  sim::EventQueue& events_;
  sim::Time time_;
  KernelId id_ = 0;
};

class DispatcherTest : public ::testing::Test {
 protected:
  DispatcherTest() {
    spec_.sms = 4;
    spec_.launch_gap = 1_us;
    spec_.sm.threads = 2048;
  }
  static Launch launch(Work& w, int workgroups,
                       Footprint f = {.threads = 1024, .shared_memory = {}, .registers = {}}) {
    return {.work = &w, .workgroups = workgroups, .footprint = f};
  }
  static Launch collective(Work& w, int workgroups) {
    return {.work = &w,
            .workgroups = workgroups,
            .footprint = {.shared_memory = {}, .registers = {}, .whole_sm = true},
            .actor = Actor::kCollective};
  }
  /// A collective takes one SM. A grid of 8 workgroups is enqueued a little later.
  void run_beside_collective(Dispatcher& d, Work& whole, Work& grid, Residency residency) {
    d.enqueue(d.add_stream(0), collective(whole, 1), 0_us);
    Launch l = launch(grid, 8);
    l.residency = residency;
    d.enqueue(d.add_stream(0), l, 2_us);
    events_.run();
  }
  GpuSpec spec_;
  sim::EventQueue events_;
};

TEST_F(DispatcherTest, AGridRunsInWaves) {
  Dispatcher d(spec_, events_, {});
  Sleep k(d, events_, 10_us);
  const auto s = d.add_stream(0);
  d.enqueue(s, launch(k, 17), 0_us);
  events_.run();
  EXPECT_EQ(k.ended, 1_us + 30_us) << "8 at a time";
  EXPECT_EQ(k.most, 8);
  EXPECT_THAT(std::vector<int>(k.sms.begin(), k.sms.begin() + 8), ElementsAre(0, 1, 2, 3, 0, 1, 2, 3));
  EXPECT_TRUE(d.idle());
}

TEST_F(DispatcherTest, AStreamRunsOneKernelAfterTheOtherWithAGap) {
  Dispatcher d(spec_, events_, {});
  Sleep a(d, events_, 10_us);
  Sleep b(d, events_, 10_us);
  const auto s = d.add_stream(0);
  d.enqueue(s, launch(a, 1), 0_us);
  d.enqueue(s, launch(b, 1), 0_us);
  events_.run();
  EXPECT_EQ(b.began, a.ended + 1_us);
}

TEST_F(DispatcherTest, AStreamWaitsForAnEventOfAnother) {
  Dispatcher d(spec_, events_, {});
  Sleep a(d, events_, 10_us);
  Sleep b(d, events_, 10_us);
  const auto s = d.add_stream(0);
  const auto t = d.add_stream(0);
  const auto e = d.add_event();
  d.wait(t, e);
  d.enqueue(t, launch(b, 1), 0_us);
  EXPECT_FALSE(d.idle());
  EXPECT_EQ(d.who_waits().size(), 1u);
  d.enqueue(s, launch(a, 1), 0_us);
  d.record(s, e);
  events_.run();
  EXPECT_EQ(b.began, a.ended + 1_us);
  EXPECT_TRUE(d.idle());
}

TEST_F(DispatcherTest, TheHigherPriorityIsServedFirstButNobodyIsPreempted) {
  Dispatcher d(spec_, events_, {});
  Sleep low(d, events_, 10_us);
  Sleep high(d, events_, 10_us);
  d.enqueue(d.add_stream(0), launch(low, 24), 0_us);
  d.enqueue(d.add_stream(1), launch(high, 8), 5_us);
  events_.run();
  EXPECT_EQ(high.starts.front(), 11_us);
  EXPECT_EQ(high.ended, 21_us);
  EXPECT_EQ(low.ended, 41_us);
}

TEST_F(DispatcherTest, EqualsTakeTurns) {
  Dispatcher d(spec_, events_, {});
  Sleep a(d, events_, 10_us);
  Sleep b(d, events_, 10_us);
  d.enqueue(d.add_stream(0), launch(a, 32), 0_us);
  d.enqueue(d.add_stream(0), launch(b, 8), 5_us);
  events_.run();
  EXPECT_EQ(b.starts.front(), 11_us);
  EXPECT_EQ(b.ended, 31_us) << "4 of 8 places in each of two waves";
}

TEST_F(DispatcherTest, AWholeSmIsClaimedAlthoughSmallWorkgroupsWouldRefillIt) {
  Dispatcher d(spec_, events_, {});
  Sleep small(d, events_, 10_us);
  Sleep skewed(d, events_, 7_us);
  Sleep whole(d, events_, 100_us);
  // Two kernels of different duration: no SM would ever be empty by itself.
  d.enqueue(d.add_stream(0), launch(small, 100), 0_us);
  d.enqueue(d.add_stream(0), launch(skewed, 100), 0_us);
  d.enqueue(d.add_stream(0), collective(whole, 2), 20_us);
  events_.run();
  EXPECT_LE(whole.starts.back(), 21_us + 10_us);
  EXPECT_NE(whole.sms[0], whole.sms[1]);
}

TEST_F(DispatcherTest, ReservedSmsAreForCollectives) {
  Dispatcher d(spec_, events_, {}, 2);
  Sleep small(d, events_, 10_us);
  Sleep whole(d, events_, 1_us);
  d.enqueue(d.add_stream(0), launch(small, 8), 0_us);
  d.enqueue(d.add_stream(0), collective(whole, 2), 0_us);
  events_.run();
  EXPECT_EQ(small.ended, 21_us) << "4 at a time";
  EXPECT_THAT(whole.sms, ElementsAre(2, 3));
  EXPECT_EQ(whole.starts.back(), 1_us);
}

TEST_F(DispatcherTest, AGridThatMustBeTogetherWaitsForTheCollective) {
  Dispatcher d(spec_, events_, {});
  Sleep whole(d, events_, 50_us);
  Sleep together(d, events_, 10_us);
  run_beside_collective(d, whole, together, Residency::kTogether);
  EXPECT_EQ(together.began, whole.ended);
  EXPECT_EQ(together.grid, 8);
}

TEST_F(DispatcherTest, OrIsCutToTheFreeSms) {
  Dispatcher d(spec_, events_, {});
  Sleep whole(d, events_, 50_us);
  Sleep together(d, events_, 10_us);
  run_beside_collective(d, whole, together, Residency::kFree);
  EXPECT_EQ(together.began, 3_us);
  EXPECT_EQ(together.grid, 6);
}

TEST_F(DispatcherTest, WithoutSharingOfSmsBothHaveAll) {
  Dispatcher d(spec_, events_, {.sm = false, .l2 = true, .hbm = true, .link = true});
  Sleep whole(d, events_, 50_us);
  Sleep small(d, events_, 10_us);
  d.enqueue(d.add_stream(0), collective(whole, 4), 0_us);
  d.enqueue(d.add_stream(0), launch(small, 8), 0_us);
  events_.run();
  EXPECT_EQ(small.ended, 11_us);
  EXPECT_EQ(d.sm_time()[Actor::kCollective], 200_us);
  EXPECT_EQ(d.sm_time()[Actor::kCompute], 40_us) << "two a SM";
}

TEST_F(DispatcherTest, AnEnginesKernelNeedsNoRoomOnAnSm) {
  spec_.sm.threads = 256;
  Dispatcher d(spec_, events_, {});
  Sleep engine(d, events_, 10_us);
  d.enqueue(d.add_stream(0), launch(engine, 0), 0_us);
  events_.run();
  EXPECT_EQ(engine.began, 1_us);
}

}  // namespace
}  // namespace infold::gpu
