// A training step on several GPUs.
#include "study/step/step_run.h"

#include <rapidcheck/gtest.h>

#include "step_help.h"

namespace infold::study {
namespace {

using namespace sim::literals;

sim::Bytes gradients_of(const train::Graph& g) {
  return sim::Bytes{g.parameter_count() * 4};
}

TEST(StepRun, BucketsAreReducedOneAfterTheOtherWhenTheyAreReady) {
  const StepResult r = SmallStep().result();
  ASSERT_GT(r.buckets.size(), 2U);
  sim::Time before;
  for (const BucketResult& b : r.buckets) {
    EXPECT_LE(b.ready, b.start);
    EXPECT_LT(b.start, b.end);
    EXPECT_GE(b.start, before);
    before = b.end;
  }
  EXPECT_GT(r.end, before) << "the update comes last";
}

TEST(StepRun, AfterBackwardNothingSlowsItDown) {
  SmallStep step;
  step.job.overlap = false;
  const StepResult r = step.result();
  EXPECT_EQ(r.backward, r.alone.times.backward());
  EXPECT_EQ(r.communicating_in_backward, 0_ns);
  EXPECT_EQ(r.slowdown_beside(), 0);
  for (const BucketResult& b : r.buckets) EXPECT_GE(b.start, r.alone.times.backward_ended);
  EXPECT_GT(r.exposed, r.communicating / 2);
}

TEST(StepRun, WhereNothingIsSharedBackwardTakesAsLongAsAlone) {
  SmallStep step(1024);
  EXPECT_GT(step.result().backward, step.result().alone.times.backward());
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  const StepResult r = step.result();
  EXPECT_GT(r.communicating_in_backward, 0_ns);
  EXPECT_EQ(r.backward, r.alone.times.backward());
}

TEST(StepRun, WhereNothingIsSharedReservedSmsCostNothing) {
  SmallStep step;
  step.job.core.reserved_sms = 8;
  EXPECT_GT(step.result().slowdown(), 0);
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  EXPECT_EQ(step.result().slowdown(), 0);
}

TEST(StepRun, ALateGpuHoldsUpTheOthers) {
  SmallStep step;
  const StepResult even = step.result();
  step.job.delays = {0_ns, 0_ns, 0_ns, 300'000_ns};
  const StepResult late = step.result();
  EXPECT_GE(late.end, even.end + 250'000_ns);
  // The first bucket is on the SMs of the early GPUs until the late one has come.
  EXPECT_GT(late.buckets.front().end, even.buckets.front().end + 250'000_ns);
}

TEST(StepRun, PassesBeforeTheLastReduceNothing) {
  SmallStep step;
  step.job.recipe.accumulate = 4;
  const StepResult r = step.result();
  EXPECT_EQ(r.passes, 4);
  EXPECT_EQ(r.step(), r.end + r.alone.times.backward_ended * 3);
}

TEST(StepRun, RefusesWhatCanNotBe) {
  SmallStep step;
  step.job.core.reserved_sms = step.system.machine.gpu.sms;
  EXPECT_NE(run(step.job, {}).error().message.find("cannot be reserved"), std::string::npos);
  step.job.core.reserved_sms = 0;
  step.job.method.algorithm = coll::find_algorithm("two-shot");
  step.job.protocol = coll::Protocol::kLl;
  EXPECT_NE(run(step.job, {}).error().message.find("two-shot"), std::string::npos);
  step.job.protocol.reset();
  step.system.machine.gpu.hbm.capacity = 1_MiB;
  step.prepare_system();
  EXPECT_NE(run(step.job, {}).error().message.find("no layout of these 4 GPUs fits"), std::string::npos);
}

TEST(StepRun, BurstsChangeAStepByLittle) {
  for (const char* algorithm : {"ring", "tree", "inc-push"}) {
    SmallStep step(1024);
    step.job.method.algorithm = coll::find_algorithm(algorithm);
    step.job.burst = {.automatic = false, .bytes = {}};
    const StepResult packets = step.result();
    step.job.burst.bytes = sim::Bytes::kib(4);
    const StepResult bursts = step.result();
    EXPECT_EQ(bursts.link_bytes, packets.link_bytes) << algorithm;
    EXPECT_LT(bursts.events, packets.events) << algorithm;
    EXPECT_NEAR(bursts.step().in_us() / packets.step().in_us(), 1, 0.02) << algorithm;
    EXPECT_NEAR(bursts.backward.in_us() / packets.backward.in_us(), 1, 0.02) << algorithm;
  }
}

// Where it is faster, L2 kept for the collective what backward would have written back (docs/training.md).
TEST(StepRun, BesideACollectiveBackwardIsNotFasterWhereL2HoldsEverything) {
  for (const char* algorithm : {"ring", "two-shot", "inc-push"}) {
    SmallStep step(512, 32);
    step.system.machine.gpu.l2.capacity = sim::Bytes::gib(1);
    step.prepare_system();
    step.job.method.algorithm = coll::find_algorithm(algorithm);
    EXPECT_GE(step.result().slowdown(), 0) << algorithm;
  }
}

/// Eight GPUs that fight over SMs, memory and L2.
SmallStep eight() {
  SmallStep step;
  step.system = small_system(8, 2);
  step.system.machine.gpu.sms = 16;
  step.prepare_system();
  step.job.gpus = 8;
  return step;
}

TEST(StepRunFold, FourStandForEightWithinTwoPerCent) {
  for (const coll::Engine engine : {coll::Engine::kSm, coll::Engine::kDma}) {
    SmallStep step = eight();
    step.job.graph = &step.graph;
    step.job.method.engine = engine;
    step.job.protocol = coll::Protocol::kSimple;  // others round each step up to whole lines
    step.job.burst = {.automatic = false, .bytes = sim::Bytes::kib(1)};
    step.job.fold = Fold::kOff;
    const StepResult all = step.result();
    step.job.fold = Fold::kOn;
    const StepResult few = step.result();
    EXPECT_EQ(all.simulated, 8);
    EXPECT_EQ(few.simulated, 4);
    EXPECT_LT(few.events, all.events * 2 / 3);
    EXPECT_NEAR(few.backward.in_us() / all.backward.in_us(), 1, 0.02) << sim::name_of(engine);
    EXPECT_NEAR(few.step().in_us() / all.step().in_us(), 1, 0.02) << sim::name_of(engine);
    EXPECT_NEAR(static_cast<double>(few.link_bytes) / static_cast<double>(all.link_bytes), 1, 0.01);
    ASSERT_EQ(few.links.links.size(), all.links.links.size());
    for (std::size_t i = 0; i < all.links.links.size(); ++i)
      EXPECT_NEAR(few.links.links[i].mean, all.links.links[i].mean, 0.15) << "cable " << i;
  }
}

TEST(StepRunFold, OnlyWhereAllGpusDoTheSame) {
  SmallStep step = eight();
  step.job.graph = &step.graph;
  EXPECT_EQ(step.result().simulated, 8) << "auto: small steps are simulated as they are";
  step.job.fold = Fold::kOn;
  EXPECT_EQ(step.result().simulated, 4);
  step.job.delays = skewed(8, 10_us, 1);
  EXPECT_EQ(step.result().simulated, 8) << "some are late";
  step.job.delays.clear();
  step.job.method.algorithm = coll::find_algorithm("tree");
  EXPECT_EQ(step.result().simulated, 8) << "a tree has a root";
  step.job.method.algorithm = coll::find_algorithm("ring");
  step.job.sync.kind = train::SyncKind::kHorovod;
  EXPECT_EQ(step.result().simulated, 8) << "buckets are agreed on by all";
  step.job.sync.kind = train::SyncKind::kDdp;
  step.system.machine.fabric.topology = net::Topology::kFullMesh;
  step.prepare_system();
  EXPECT_EQ(step.result().simulated, 8) << "whom a GPU sends to decides which cable it uses";
}

TEST(StepRun, StopsWhenAsked) {
  const SmallStep step;
  EXPECT_TRUE(is_interrupted(run(step.job, [](double) { return false; })));
}

/// GPUs that are in step are simulated once: that must not be seen in anything.
RC_GTEST_PROP(StepRunProperty, OneGpuStandsForAllOnlyWhereTheyAreAlike, ()) {
  SmallStep step(*rc::gen::inRange(16, 600), 256);
  step.job.sync.kind = *rc::gen::element(train::SyncKind::kDdp, train::SyncKind::kHorovod,
                                         train::SyncKind::kTensorflow, train::SyncKind::kPerTensor);
  step.job.sync.cycle = sim::Time::us(*rc::gen::inRange(1, 200));
  step.job.overlap = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>())
    step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  const StepResult once = step.result();
  step.job.together = false;
  const StepResult each = step.result();
  RC_ASSERT(once.end == each.end);
  RC_ASSERT(once.forward == each.forward);
  RC_ASSERT(once.backward == each.backward);
  RC_ASSERT(once.exposed == each.exposed);
  RC_ASSERT(once.optimizer == each.optimizer);
  RC_ASSERT(once.communicating == each.communicating);
  RC_ASSERT(once.link_bytes == each.link_bytes);
  RC_ASSERT(once.sm_time.total() == each.sm_time.total());
  RC_ASSERT(once.traffic.total().hbm_read == each.traffic.total().hbm_read);
  RC_ASSERT(once.buckets.size() == each.buckets.size());
  for (std::size_t i = 0; i < once.buckets.size(); ++i) {
    RC_ASSERT(once.buckets[i].ready == each.buckets[i].ready);
    RC_ASSERT(once.buckets[i].end == each.buckets[i].end);
  }
}

/// Whoever forms the buckets, and however large they are: every gradient is reduced once, by as many bytes on
/// the links overlapped as afterwards, and the same every time.
RC_GTEST_PROP(StepRunProperty, NoGradientIsLostOrSentTwice, ()) {
  SmallStep step(*rc::gen::inRange(16, 300), 64);
  step.job.sync.kind = *rc::gen::element(train::SyncKind::kDdp, train::SyncKind::kHorovod,
                                         train::SyncKind::kTensorflow, train::SyncKind::kPerTensor);
  step.job.sync.bucket = sim::Bytes{*rc::gen::inRange(1, 1 << 20)};
  step.job.sync.first_bucket = sim::Bytes{*rc::gen::inRange(1, 1 << 18)};
  step.job.sync.fusion = sim::Bytes{*rc::gen::inRange(1, 1 << 20)};
  step.job.sync.cycle = sim::Time::us(*rc::gen::inRange(1, 200));
  step.job.sync.packs = *rc::gen::inRange(1, 5);
  step.job.sync.gradient_as_view = *rc::gen::arbitrary<bool>();
  step.job.gpus = *rc::gen::inRange(2, 5);
  step.job.protocol = coll::Protocol::kSimple;
  if (*rc::gen::arbitrary<bool>()) step.job.delays = skewed(4, 50'000_ns, 7);
  const StepResult overlapped = step.result();
  sim::Bytes reduced;
  for (const BucketResult& b : overlapped.buckets) reduced += b.bytes;
  RC_ASSERT(reduced == gradients_of(step.graph));
  const auto sent =
      2 * static_cast<std::uint64_t>(step.job.gpus - 1) * static_cast<std::uint64_t>(reduced.count());
  RC_ASSERT(overlapped.link_bytes == sent);

  const StepResult again = step.result();
  RC_ASSERT(again.end == overlapped.end);
  RC_ASSERT(again.events == overlapped.events);

  step.job.overlap = false;
  RC_ASSERT(step.result().link_bytes == sent);
}

}  // namespace
}  // namespace infold::study
