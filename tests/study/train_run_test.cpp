// A training step on one GPU.
#include "study/step/train_run.h"

#include "step_help.h"
#include "train/plan.h"

namespace infold::study {
namespace {

using namespace sim::literals;

TrainResult run_small(const train::Recipe& recipe, int width = 512) {
  const train::Graph g = layers_of(width);
  const auto outcome = run(gpu::GpuSpec{}, {&g, recipe, false}, {});
  EXPECT_TRUE(outcome);
  return outcome.value();
}

TEST(TrainRun, PhasesMakeUpTheStep) {
  const TrainResult r = run_small({.batch = 512});
  EXPECT_GT(r.forward, 0_ns);
  EXPECT_GT(r.backward, r.forward);
  const sim::Time phases = r.forward + r.backward + r.optimizer;
  EXPECT_LE(phases, r.end);
  // Between them there are only the gaps of two launches, and the first one's.
  EXPECT_LE(r.end - phases, gpu::GpuSpec{}.launch_gap * 4);
  const sim::Time kernels = r.times.products + r.times.convolutions + r.times.attention + r.times.streaming;
  EXPECT_LT(kernels, r.end);
}

TEST(TrainRun, IsTheSameEveryTime) {
  const TrainResult a = run_small({.batch = 512});
  const TrainResult b = run_small({.batch = 512});
  EXPECT_EQ(a.end, b.end);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.hbm_bytes, b.hbm_bytes);
}

TEST(TrainRun, FusionAndMatrixUnitsSaveTime) {
  const train::Recipe eager{.batch = 4096};
  train::Recipe fused = eager;
  fused.fusion = train::Fusion::kFused;
  train::Recipe slow = eager;
  slow.numbers = train::Numbers::kFp32;
  const sim::Time base = run_small(eager, 2048).end;
  EXPECT_LT(run_small(fused, 2048).end, base);
  EXPECT_GT(run_small(slow, 2048).end, base * 2);
}

TEST(TrainRun, DoesTheOperationsOfTheModelThreeTimesLessTheFirstLayers) {
  const train::Graph g = layers_of(512);
  double first = 0;
  for (const auto& op : g.operations) {
    if (op.forward_flops > 0) {
      first = op.forward_flops;
      break;
    }
  }
  const TrainResult r = run_small({.batch = 512});
  const double products = 512 * (3 * g.forward_flops() - first);
  EXPECT_GT(r.flops, products);
  EXPECT_LT(r.flops, products * 1.05);  // elementwise work
}

TEST(TrainRun, RefusesWhatDoesNotFitWithTheNumber) {
  const train::Graph g = layers_of(512);
  gpu::GpuSpec gpu;
  gpu.name = "tiny";
  gpu.hbm.capacity = 1_MiB;
  const auto outcome = run(gpu, {&g, {.batch = 512}, false}, {});
  ASSERT_TRUE(is_refused(outcome));
  EXPECT_NE(outcome.error().message.find("tiny has 0.0 GB; what is needed whatever the batch"),
            std::string::npos);
  EXPECT_TRUE(run(gpu, {&g, {.batch = 512}, true}, {}).has_value());
}

TEST(TrainRun, StopsWhenAsked) {
  const train::Graph g = layers_of(512);
  const auto outcome = run(gpu::GpuSpec{}, {&g, {.batch = 512}, false}, [](double) { return false; });
  EXPECT_TRUE(is_interrupted(outcome));
}

TEST(TrainRun, AddsUpGradientsOfSeveralPasses) {
  const TrainResult once = run_small({.batch = 512, .fusion = train::Fusion::kFused});
  const TrainResult often = run_small({.batch = 512, .accumulate = 4, .fusion = train::Fusion::kFused});
  EXPECT_EQ(once.step(1), once.end);
  EXPECT_GT(often.backward, once.backward) << "what is there has to be read";
  EXPECT_EQ(often.step(4), (often.end - often.optimizer) * 4 + often.optimizer);
}

}  // namespace
}  // namespace infold::study
