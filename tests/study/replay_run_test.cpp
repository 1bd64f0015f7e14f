// Workloads on machines: what a step takes, what communication costs it, and what is refused.
#include "study/replay/replay_run.h"

#include <gmock/gmock.h>

#include "coll/algo/algorithms.h"
#include "job_help.h"

namespace infold::study {
namespace {

using ::testing::HasSubstr;

/// Two ranks: a kernel, an all-reduce of it beside a second kernel, and an update that waits for it.
Workload reduced(sim::Time beside, sim::Bytes bytes = sim::Bytes::mib(8)) {
  Workload w{.name = "w"};
  work::Graph& g = w.graph;
  g.script_of = {0, 0};
  g.communicators = {{.name = "dp", .groups = {{0, 1}}}};
  work::Script script{
      .streams = {{.name = "compute", .kind = work::Stream::Kind::kCompute},
                  {.name = "dp", .kind = work::Stream::Kind::kCommunication, .communicator = 0},
                  {.name = "host", .kind = work::Stream::Kind::kHost}}};
  const auto timed = [](sim::Time time, std::vector<work::OpId> after = {}) {
    return work::Operation{.what = work::Timed{.time = time, .sms = 0, .workgroups = 864, .bytes = {}},
                           .after = std::move(after)};
  };
  const work::OpId first = g.add(script.streams[0], timed(100_us));
  const work::OpId sum = g.add(
      script.streams[1], {.what = work::Collective{.buffer = g.add(work::Buffer{bytes})}, .after = {first}});
  if (beside > sim::Time{}) g.add(script.streams[0], timed(beside));
  g.add(script.streams[0], timed(10_us, {sum}));
  g.scripts = {script};
  return w;
}

class Replay : public testing::Test {
 protected:
  ReplayResult result_of(const Workload& w, int gpus = 2) {
    ReplayJob job = job_of(w, gpus);
    auto ran = run(job, {});
    if (ran) return *std::move(ran);
    ADD_FAILURE() << ran.error().message;
    return {};
  }
  static ReplayJob job_of(const Workload& w, int gpus = 2) {
    return {.system = prepared(small_system(gpus)),
            .workload = &w,
            .method = {.algorithm = coll::find_algorithm("ring")},
            .protocol = coll::Protocol::kSimple,
            .burst = {.automatic = false, .bytes = {}, .careful = false}};
  }
};

TEST_F(Replay, CommunicationWithoutAKernelBesideItIsExposed) {
  const Workload w = reduced({});
  const ReplayResult r = result_of(w);
  EXPECT_EQ(r.ranks, 2);
  EXPECT_EQ(r.operations, 6);
  EXPECT_GT(r.communicating, 20_us);
  EXPECT_EQ(r.uncovered, r.communicating);
  EXPECT_GT(r.waited, r.communicating - 10_us);
  EXPECT_GT(r.step, r.alone + r.communicating - 10_us);
  ASSERT_EQ(r.communication.size(), 1U);
  EXPECT_EQ(r.communication[0].communicator, "dp");
  EXPECT_EQ(r.communication[0].calls, 1);
}

TEST_F(Replay, AKernelBesideCommunicationTakesLongerAndHidesIt) {
  const Workload w = reduced(2'000_us);
  const ReplayResult r = result_of(w);
  EXPECT_LT(r.uncovered, 3_us) << "but for the gap of a launch";
  EXPECT_EQ(r.waited, sim::Time{});
  ASSERT_EQ(r.kernels.size(), 1U);
  EXPECT_EQ(r.kernels[0].what, KernelClass::kTimed);
  EXPECT_EQ(r.kernels[0].kernels, 3);
  EXPECT_GT(r.kernels[0].beside, r.kernels[0].alone);
}

TEST_F(Replay, DelaysOfTheHostCountAlsoWithoutCommunication) {
  Workload w{.name = "w"};
  w.graph.script_of = {0};
  work::Script script{.streams = {{.name = "compute", .kind = work::Stream::Kind::kCompute},
                                  {.name = "host", .kind = work::Stream::Kind::kHost}}};
  const work::OpId delay = w.graph.add(script.streams[1], {.what = work::Delay{700_us}});
  w.graph.add(script.streams[0], {.what = work::Timed{.time = 50_us, .bytes = {}}, .after = {delay}});
  w.graph.scripts = {script};
  const ReplayResult r = result_of(w);
  EXPECT_GE(r.step, 750_us);
  EXPECT_LT(r.step, 760_us);
  EXPECT_EQ(r.alone, r.step);
}

TEST_F(Replay, ARankThatBeginsLateIsWaitedFor) {
  const Workload w = reduced({});
  ReplayJob job = job_of(w);
  job.delays = {{}, 300_us};
  const auto ran = run(job, {});
  ASSERT_TRUE(ran) << ran.error().message;
  EXPECT_GT(ran->step, result_of(w).step + 280_us);
}

TEST_F(Replay, MoreRanksThanGpusAreRefused) {
  Workload w = reduced({});
  w.graph.script_of = {0, 0, 0, 0};
  w.graph.communicators[0].groups = {{0, 1}, {2, 3}};
  const auto ran = run(job_of(w), {});
  ASSERT_FALSE(ran);
  EXPECT_THAT(ran.error().message, HasSubstr("w has 4 ranks"));
}

TEST_F(Replay, TheSameEveryTime) {
  const Workload w = reduced(200_us);
  const ReplayResult a = result_of(w);
  const ReplayResult b = result_of(w);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.events, b.events);
}

}  // namespace
}  // namespace infold::study
