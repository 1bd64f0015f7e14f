// Steps side by side.
#include "study/step/compare_run.h"

#include <gtest/gtest.h>

#include "step_help.h"
#include "study/step/overlap_study.h"

namespace infold::study {
namespace {

Method method(const char* algorithm) {
  return {coll::find_algorithm(algorithm), coll::Engine::kSm};
}

CompareResult compared(const CompareJob& job) {
  return run(job, {}).value();
}

TEST(Compare, RowsAgreeWithOneAnother) {
  const SmallStep step;
  const CompareResult r = compared({step.job, {method("ring"), method("tree")}, 2});
  ASSERT_EQ(r.rows.size(), 6U);
  for (std::size_t i = 0; i < r.rows.size(); ++i) {
    const CompareRow& row = r.rows[i];
    const CompareRow& sequential = r.rows[i / 3 * 3];
    EXPECT_EQ(row.variant, kVariantNames[i % 3].value);
    EXPECT_DOUBLE_EQ(row.speedup_vs_sequential, sequential.result.step().in_s() / row.result.step().in_s());
    EXPECT_EQ(row.result.link_bytes, sequential.result.link_bytes);
    if (row.variant != Variant::kOverlap) {
      EXPECT_EQ(row.result.slowdown(), 0);
    }
  }
  EXPECT_GT(r.ring_slowdown, 0);
  EXPECT_DOUBLE_EQ(r.rows[1].result.slowdown(), r.ring_slowdown);
  EXPECT_DOUBLE_EQ(*r.rows[1].repaired, 0);
  EXPECT_DOUBLE_EQ(*r.rows[2].repaired, 1);
  EXPECT_LE(r.rows[2].result.step(), r.rows[1].result.step());
}

TEST(Compare, RingIsTheMeasureEvenWhereItIsNotAskedFor) {
  const SmallStep step;
  const CompareResult with = compared({step.job, {method("ring"), method("tree")}, 2});
  const CompareResult without = compared({step.job, {method("tree")}, 1});
  EXPECT_EQ(without.rows.size(), 3U);
  EXPECT_EQ(with.ring_slowdown, without.ring_slowdown);
  EXPECT_EQ(with.rows[4].repaired, without.rows[1].repaired);
}

TEST(Compare, NothingIsRepairedWhereNothingWasSlower) {
  EXPECT_EQ(repaired(0.01, 0), std::nullopt);
  EXPECT_DOUBLE_EQ(*repaired(0.01, 0.04), 0.75);
  EXPECT_DOUBLE_EQ(*repaired(0.08, 0.04), -1);
}

TEST(OverlapStudy, IsTheSameOnAnyNumberOfThreads) {
  const SmallStep step;
  const std::vector<Method> both = {method("ring"), method("tree")};
  OverlapJob job{.cases = {{step.job, both, true}},
                 .windows = {{step.job.system, 4, both, {sim::Bytes::kib(64), sim::Bytes::mib(1)}}},
                 .threads = 1};
  const auto one = run(job, {}).value();
  job.threads = 3;
  const auto three = run(job, {}).value();
  EXPECT_EQ(one.cases[0].sequential.end, three.cases[0].sequential.end);
  for (std::size_t m = 0; m < 2; ++m) {
    EXPECT_EQ(one.cases[0].overlap[m].result->end, three.cases[0].overlap[m].result->end);
    EXPECT_EQ(*one.windows[0].times[m].result, *three.windows[0].times[m].result);
  }
  EXPECT_GT(one.mean_slowdown_beside(), 0);
}

TEST(OverlapStudy, CausesAreThoseOfExplain) {
  const SmallStep step;
  const OverlapJob job{
      .cases = {{step.job, {method("ring")}, true, /*explain=*/true}}, .windows = {}, .threads = 2};
  const auto r = run(job, {}).value();
  const auto e = run(ExplainJob{step.job, 2}, {}).value();
  ASSERT_EQ(r.cases[0].causes.size(), e.backward.parts.size());
  for (std::size_t i = 0; i < e.backward.parts.size(); ++i) {
    EXPECT_EQ(r.cases[0].causes[i].cause, e.backward.parts[i].cause);
    EXPECT_DOUBLE_EQ(r.cases[0].causes[i].slowdown, e.backward.parts[i].slowdown);
  }
  EXPECT_GT(e.backward.slowdown, 0);
}

TEST(Compare, AnAlgorithmThatWouldCarryOutNothingIsRefusedAndOneThatCarriesOutSomeIsNot) {
  SmallStep step;
  step.job.sync.kind = train::SyncKind::kFsdp;  // gathers and scatters, which tree does not offer
  step.job.method = method("tree");
  const auto refused = run(step.job, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("tree would carry out nothing"), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("all_gather"), std::string::npos) << refused.error().message;
  const std::vector<Method> all = {method("ring"), method("tree"), method("halving-doubling")};
  EXPECT_EQ(with_use(step.job, all).value(), (std::vector<Method>{all[0], all[2]}));

  step.job.sync.kind = train::SyncKind::kHsdp;  // adds all-reduces between copies
  step.job.sync.shard = 2;
  EXPECT_EQ(with_use(step.job, all).value(), all);
}

TEST(OverlapStudy, SizesThatAreNotSimulatedAreOnTheLineThroughThoseThatAre) {
  const SmallStep step;
  const std::vector<sim::Bytes> sizes = {sim::Bytes::kib(512), sim::Bytes::mib(1), sim::Bytes::mib(4)};
  SizeWindow all{step.job.system, 4, {method("ring"), method("inc-push")}, sizes};
  SizeWindow some = all;
  some.simulate_to = sim::Bytes::mib(1);
  const auto r = run(OverlapJob{.cases = {}, .windows = {all, some}, .threads = 2}, {}).value();
  EXPECT_EQ(*r.windows[0].times[0].result, *r.windows[1].times[0].result);  // ring is simulated at any size
  ASSERT_TRUE(r.windows[0].times[1].result) << r.windows[0].times[1].refused;
  const auto& real = *r.windows[0].times[1].result;
  const auto& line = *r.windows[1].times[1].result;
  EXPECT_EQ(real[0], line[0]);
  EXPECT_EQ(real[1], line[1]);
  EXPECT_EQ((line[2] - line[1]).count_ps(), 6 * (line[1] - line[0]).count_ps());
  EXPECT_NEAR(line[2].in_s() / real[2].in_s(), 1, 0.05);
}

TEST(OverlapStudy, AMethodThatAMachineDoesNotOfferIsLeftOut) {
  SmallStep step;
  step.job.protocol = coll::Protocol::kLl;  // two-shot has none
  const OverlapJob job{
      .cases = {{step.job, {method("ring"), method("two-shot")}, true}}, .windows = {}, .threads = 1};
  const auto r = run(job, {}).value();
  EXPECT_TRUE(r.cases[0].overlap[0].result);
  EXPECT_FALSE(r.cases[0].overlap[1].result);
  EXPECT_NE(r.cases[0].overlap[1].refused, "");
}

TEST(OverlapStudy, TheWindowIsTheLongestRunOfSizesThatAreFaster) {
  const auto us = [](std::initializer_list<int> list) {
    std::vector<sim::Time> times;
    for (const int t : list) times.push_back(sim::Time::us(t));
    return times;
  };
  SizeWindowResult r;
  r.times.push_back({method("ring"), us({10, 20, 30, 40, 50}), {}});
  r.times.push_back({method("tree"), us({9, 21, 29, 39, 51}), {}});
  r.times.push_back({method("two-shot"), us({10, 20, 30, 40, 50}), {}});
  ASSERT_TRUE(r.wins(1));
  EXPECT_EQ(r.wins(1)->first, 2U);
  EXPECT_EQ(r.wins(1)->last, 3U);
  EXPECT_FALSE(r.wins(2));
}

}  // namespace
}  // namespace infold::study
