// Training over the simulated machine: the same bits as one process where sums are in the order of ranks,
// nearly the same everywhere else.
#include "study/learn_run.h"

#include "job_help.h"

namespace infold::study {
namespace {

LearnJob learn_job(const SystemSpec& system, const char* algorithm) {
  LearnJob job;
  job.system = prepared(system);
  job.gpus = system.machine.gpus;
  job.method.algorithm = coll::find_algorithm(algorithm);
  job.hidden = {8};
  job.batch = 4;
  job.steps = 20;
  return job;
}

LearnResult learnt(const LearnJob& job) {
  const auto outcome = run(job, {});
  EXPECT_EQ(why(outcome), "");
  return outcome.value();
}

TEST(Learn, RankOrderInTheSwitchGivesTheBitsOfOneProcess) {
  SystemSpec system = small_system();
  system.machine.inc.order = inc::SumOrder::kRank;
  for (const char* algorithm : {"inc-push", "inc-pull", "nvls"}) {
    LearnJob job = learn_job(system, algorithm);
    job.steps = 100;
    const LearnResult r = learnt(job);
    EXPECT_EQ(r.wrong, 0U) << algorithm;
    EXPECT_EQ(r.different_weights, 0U) << algorithm;
    EXPECT_EQ(r.largest_difference, 0) << algorithm;
    EXPECT_EQ(r.ranks_apart, 0) << algorithm;
    EXPECT_EQ(r.loss, r.reference.loss) << algorithm;
    EXPECT_EQ(r.accuracy, r.reference.accuracy) << algorithm;
  }
}

TEST(Learn, OtherOrdersAreOffByRounding) {
  const SystemSpec system = small_system();
  std::uint64_t different = 0;
  for (const auto& algorithm : coll::algorithms()) {
    if (!algorithm.offers(coll::Collective::kAllReduce)) continue;
    const LearnResult r = learnt(learn_job(system, std::string(algorithm.name).c_str()));
    EXPECT_EQ(r.wrong, 0U) << algorithm.name;
    EXPECT_LT(r.largest_difference, 1e-4) << algorithm.name;
    EXPECT_GT(r.all_reduce, sim::Time{}) << algorithm.name;
    different += r.different_weights;
  }
  EXPECT_GT(different, 0U) << "no order but that of ranks";
}

TEST(Learn, WeightsThatOverflowAreToldWithWhatHelps) {
  LearnJob job = learn_job(small_system(), "ring");
  job.rate = 10;
  job.steps = 200;
  const auto outcome = run(job, {});
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message.find("take a smaller --rate"), std::string::npos)
      << outcome.error().message;
}

TEST(Learn, TheLossGoesDown) {
  const SystemSpec system = small_system(4);
  LearnJob job = learn_job(system, "ring");
  job.hidden = {16, 16};
  job.batch = 16;
  job.steps = 400;
  const LearnResult r = learnt(job);
  EXPECT_LT(r.loss.back(), r.loss.front() / 2);
  EXPECT_GT(r.accuracy, 0.85);
}

TEST(Learn, SixteenBitsInRankOrderAreStillThoseOfOneProcess) {
  SystemSpec system = small_system(4);
  system.machine.inc.order = inc::SumOrder::kRank;
  LearnJob job = learn_job(system, "inc-push");
  job.type = coll::DataType::kBf16;
  const LearnResult bf16 = learnt(job);
  EXPECT_EQ(bf16.different_weights, 0U);
  job.type = coll::DataType::kFp32;
  EXPECT_NE(bf16.loss, learnt(job).loss);
}

TEST(Learn, SameSeedSameBits) {
  const SystemSpec system = small_system(4);
  LearnJob job = learn_job(system, "tree");
  const LearnResult a = learnt(job);
  EXPECT_EQ(a.loss, learnt(job).loss);
  job.seed = 2;
  EXPECT_NE(a.loss, learnt(job).loss);
}

TEST(Learn, WhatCanNotBeRunIsRefused) {
  SystemSpec system = small_system(4);
  system.machine.inc.table_bytes = 64_B;
  LearnJob job = learn_job(system, "inc-push");
  EXPECT_TRUE(is_refused(run(job, {})));
  job = learn_job(system, "ring");
  EXPECT_TRUE(is_interrupted(run(job, [](double) { return false; })));
}

}  // namespace
}  // namespace infold::study
