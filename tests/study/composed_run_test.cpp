// Composed steps against the same steps in detail.
#include <gtest/gtest.h>

#include <cmath>

#include "step_help.h"
#include "study/composed/profile_store.h"

namespace infold::study {
namespace {

StepResult composed_of(const SmallStep& asked) {
  SmallStep step = asked;
  step.job.graph = &step.graph;
  step.job.fidelity.level = Fidelity::kComposed;
  return step.result();
}

void expect_close(const SmallStep& step) {
  const StepResult detail = step.result();
  const StepResult composed = composed_of(step);
  EXPECT_EQ(composed.fidelity, Fidelity::kComposed);
  EXPECT_NEAR(composed.step().in_s() / detail.step().in_s(), 1, 0.03);
  EXPECT_NEAR(composed.slowdown(), detail.slowdown(), 0.04);
  EXPECT_NEAR(composed.alone.times.backward().in_s() / detail.alone.times.backward().in_s(), 1, 0.02);
  ASSERT_EQ(composed.buckets.size(), detail.buckets.size());
  EXPECT_EQ(composed.kernels.size(), detail.kernels.size());
}

TEST(ComposedRun, IsCloseToTheStepInDetail) {
  expect_close(SmallStep(1024));
}

TEST(ComposedRun, IsCloseWhereNothingOverlaps) {
  SmallStep step(1024);
  step.job.overlap = false;
  expect_close(step);
}

TEST(ComposedRun, IsCloseWhereParametersAreSharded) {
  SmallStep step(1024);
  step.job.sync.kind = train::SyncKind::kZero2;
  expect_close(step);
}

TEST(ComposedRun, WithoutSharingNothingIsSlower) {
  SmallStep step(1024);
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  EXPECT_NEAR(composed_of(step).slowdown(), 0, 0.005);
}

TEST(ComposedRun, ProfilesOfEarlierRunsChangeNothing) {
  SmallStep step(1024);
  step.job.profiles = std::make_shared<composed::ProfileStore>("test");
  const StepResult cold = composed_of(step);
  const StepResult warm = composed_of(step);
  step.job.profiles.reset();
  const StepResult without = composed_of(step);
  for (const StepResult* other : {&warm, &without}) {
    EXPECT_EQ(cold.end, other->end);
    EXPECT_EQ(cold.backward, other->backward);
    EXPECT_EQ(cold.exposed, other->exposed);
    EXPECT_EQ(cold.events, other->events);
  }
}

TEST(ComposedRun, MoreLayersTakeNoMoreEvents) {
  const auto events_of = [](int layers) {
    SmallStep step(1024);
    step.graph = layers_of(1024, layers);
    return composed_of(step).events;
  };
  EXPECT_LT(static_cast<double>(events_of(64)), 1.3 * static_cast<double>(events_of(32)));
}

TEST(ComposedRun, RefusesWhatIsDecidedAsTheStepRuns) {
  SmallStep step;
  step.job.sync.kind = train::SyncKind::kHorovod;
  step.job.fidelity.level = Fidelity::kComposed;
  const auto outcome = run(step.job, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("--sync horovod"), std::string::npos);
}

}  // namespace
}  // namespace infold::study
