// What would make a step fit that does not.
#include "study/step/fitting_layouts.h"

#include "step_help.h"

namespace infold::study {
namespace {

/// A step on GPUs that have this share of the memory that it needs.
struct TooLarge {
  explicit TooLarge(double share) {
    step.job.recipe.optimizer = train::Optimizer::kAdam;
    const sim::Bytes need = step.result().memory.total();
    step.system.machine.gpu.hbm.capacity =
        sim::Bytes{static_cast<std::int64_t>(static_cast<double>(need.count()) * share)};
    step.prepare_system();
  }
  sim::Bytes room() const { return step.system.machine.gpu.hbm.capacity; }
  SmallStep step{1024, 64};
};

TEST(FittingLayouts, EachFitsAsItSays) {
  const TooLarge t(0.7);
  const FittingLayouts found = fitting_layouts(t.step.job);
  ASSERT_FALSE(found.nearest.empty());
  EXPECT_FALSE(found.least);
  for (const FittingLayout& l : found.nearest) {
    const auto r = run(l.job, {});
    ASSERT_TRUE(r) << l.options << ": " << why(r);
    EXPECT_EQ(r->memory.total(), l.memory) << l.options;
    EXPECT_LE(l.memory, t.room()) << l.options;
    EXPECT_NE(l.options, "");
  }
}

TEST(FittingLayouts, AreNamedWhereAStepIsRefused) {
  const TooLarge t(0.7);
  const std::string refused = why(run(t.step.job, {}));
  EXPECT_NE(refused.find("(weights "), std::string::npos) << refused;
  for (const FittingLayout& l : fitting_layouts(t.step.job).nearest)
    EXPECT_NE(refused.find(l.options + " ("), std::string::npos) << refused;
}

/// Only the state of the optimizer has to go.
TEST(FittingLayouts, NoneChangesMoreThanAnotherThatFits) {
  const TooLarge t(0.7);
  const FittingLayouts found = fitting_layouts(t.step.job);
  ASSERT_FALSE(found.nearest.empty());
  EXPECT_EQ(found.nearest.front().options, "--sync zero1");
  for (std::size_t i = 1; i < found.nearest.size(); ++i)
    EXPECT_EQ(found.nearest[i].options.find("zero1"), std::string::npos) << found.nearest[i].options;
}

TEST(FittingLayouts, WhereNoneFitsTheLeastIsNamed) {
  const TooLarge t(0.01);
  const FittingLayouts found = fitting_layouts(t.step.job);
  EXPECT_TRUE(found.nearest.empty());
  ASSERT_TRUE(found.least);
  EXPECT_GT(found.least->memory, t.room());
  EXPECT_NE(in_words(found, 4).find("no layout of these 4 GPUs fits"), std::string::npos);
}

TEST(FittingLayouts, ASmallerBatchIsOneOfThem) {
  SmallStep step(64, 4096);
  const train::MemoryNeed need = step.result().memory;
  step.system.machine.gpu.hbm.capacity = need.total() - need.passing / 2;
  step.prepare_system();
  bool batch = false;
  const FittingLayouts found = fitting_layouts(step.job);
  for (const FittingLayout& l : found.nearest) batch |= l.options.starts_with("--batch ");
  EXPECT_TRUE(batch) << in_words(found, 4);
}

}  // namespace
}  // namespace infold::study
