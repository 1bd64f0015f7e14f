// Tables of collectives: which rows, in which order, what is chosen and what is refused.
#include "study/collective/bench_run.h"

#include "job_help.h"

namespace infold::study {
namespace {

struct SmallBench {
  std::vector<SystemPtr> systems = {prepared(small_system(4))};
  BenchJob job;
  std::vector<BenchRow> rows;

  SmallBench() {
    job.systems = systems;
    job.each.burst = {.automatic = false, .bytes = {}, .careful = false};
    job.sizes = {1024, 4096};
    job.engines = {coll::Engine::kSm};
    job.algorithms = {coll::find_algorithm("ring")};
    job.protocols = {coll::Protocol::kSimple};
  }
  sim::Result<BenchResult> run(
      const std::function<bool()>& go_on = [] { return true; }, KeptJobs kept = {}) {
    return study::run(job,
                      {.go_on = go_on,
                       .began = [](const BenchRow&) {},
                       .progress = [](double) {},
                       .ended = [this](BenchRow row) { rows.push_back(std::move(row)); }},
                      std::move(kept));
  }
};

TEST(Bench, RowsGoBySizeThenByAlgorithm) {
  SmallBench bench;
  bench.job.algorithms = {coll::find_algorithm("ring"), coll::find_algorithm("tree")};
  ASSERT_EQ(why(bench.run()), "");
  ASSERT_EQ(bench.rows.size(), bench.job.rows());
  EXPECT_EQ(bench.rows[0].bytes, 1_KiB);
  EXPECT_EQ(bench.rows[1].bytes, 1_KiB);
  EXPECT_EQ(bench.rows[1].choice.algorithm->name, "tree");
  EXPECT_EQ(bench.rows[2].bytes, 4_KiB);
  EXPECT_FALSE(bench.rows[0].chosen);
  EXPECT_EQ(bench.rows[0].count, 256);
}

TEST(Bench, ARowIsWhatRunGives) {
  SmallBench bench;
  ASSERT_TRUE(bench.run());
  EXPECT_EQ(bench.rows[1].result.time,
            result_of(job_on(*bench.systems[0], Collective::kAllReduce, 4_KiB)).time);
}

TEST(Bench, AutoChoosesOneOfAll) {
  SmallBench bench;
  bench.job.sizes = {1024};
  bench.job.algorithms = {nullptr};
  ASSERT_EQ(why(bench.run()), "");
  ASSERT_EQ(bench.rows.size(), 1U);
  EXPECT_TRUE(bench.rows[0].chosen);
  EXPECT_NE(bench.rows[0].choice.algorithm, nullptr);
}

TEST(Bench, ATableIsChosenByWhereItKnows) {
  SmallBench bench;
  bench.job.sizes = {1024};
  bench.job.algorithms = {nullptr};
  const Choice tree{coll::find_algorithm("tree"), coll::Protocol::kSimple};
  const TuningTable table{Collective::kAllReduce, bench.systems[0]->name, 4, {{1_MiB, tree}}};
  bench.job.tuning = &table;
  ASSERT_EQ(why(check_tuning(bench.job)), "");
  ASSERT_EQ(why(bench.run()), "");
  EXPECT_EQ(bench.rows[0].choice, tree);
}

TEST(Bench, ATableOfAnotherMachineIsRefused) {
  SmallBench bench;
  const TuningTable table{Collective::kAllReduce, "another", 4, {}};
  bench.job.tuning = &table;
  EXPECT_FALSE(check_tuning(bench.job));
}

TEST(Bench, TuningRunsEverythingAndKeepsTheBest) {
  SmallBench bench;
  bench.job.sizes = {1024};
  bench.job.algorithms = {coll::find_algorithm("ring"), coll::find_algorithm("tree")};
  bench.job.tune = true;
  const auto result = bench.run();
  ASSERT_EQ(why(result), "");
  ASSERT_EQ(bench.rows.size(), 2U);
  const bool first = bench.rows[0].result.time <= bench.rows[1].result.time;
  EXPECT_EQ(result->table.at(1_KiB), bench.rows[first ? 0 : 1].choice);
  EXPECT_TRUE(bench.rows[0].estimate_us);
  EXPECT_TRUE(result->auto_loss);
}

TEST(Bench, WhatNoSystemCanRunIsRefusedBefore) {
  SmallBench bench;
  bench.job.gpus = 5;
  EXPECT_THAT(why(prepare_bench(bench.job)), testing::HasSubstr("has 4 GPUs, not 5"));
  bench.job.gpus = 0;
  bench.job.each.delays.resize(3);
  EXPECT_EQ(why(prepare_bench(bench.job)), "--delays: 3 times for 4 GPUs");
}

TEST(Bench, MoreGroupsThanGpusAreRefused) {
  SmallBench bench;
  bench.job.each.collective = Collective::kReduceScatter;
  bench.job.each.groups = 8;
  EXPECT_EQ(why(prepare_bench(bench.job)), "4 GPUs cannot be dealt out evenly to 8 groups");
}

/// How often a program was written. A test's own; algorithms are plain functions.
int written = 0;
coll::Program write_and_count(const coll::Request& request) {
  ++written;
  return coll::write_ring(request);
}

TEST(Bench, ARowIsCompiledOnce) {
  SmallBench bench;
  coll::Algorithm counted = *coll::find_algorithm("ring");
  counted.write = write_and_count;
  bench.job.algorithms = {&counted};
  written = 0;
  auto kept = prepare_bench(bench.job);
  ASSERT_EQ(why(kept), "");
  EXPECT_EQ(written, 1) << "the largest size was looked at";
  ASSERT_EQ(why(bench.run([] { return true; }, std::move(*kept))), "");
  EXPECT_EQ(bench.rows.size(), 2U);
  EXPECT_EQ(written, 2);
}

TEST(Bench, RowsRunOnThePlanOfTheirSystem) {
  SmallBench bench;
  ASSERT_EQ(why(bench.run()), "");
  for (const BenchRow& row : bench.rows)
    EXPECT_EQ(&row.system->plan().routes(), &bench.systems[0]->plan().routes());
}

TEST(Bench, WhatAFaultLeavesIsPlannedOncePerSystem) {
  SmallBench bench;
  bench.systems = {prepared(small_system(4, 2))};
  bench.job.systems = bench.systems;
  bench.job.each.fault = Fault{.plane = 1, .at = sim::Time::us(1)};
  bench.job.protocols = {coll::Protocol::kSimple, coll::Protocol::kLl};
  auto kept = prepare_bench(bench.job);
  ASSERT_EQ(why(kept), "");
  ASSERT_EQ(kept->left.size(), 1U);
  CollectiveJob job = bench.job.each;
  job.system = bench.systems[0];
  job.bytes = 4_KiB;
  job.algorithm = bench.job.algorithms[0];
  for (const coll::Protocol protocol : {coll::Protocol::kSimple, coll::Protocol::kLl}) {
    job.protocol = protocol;
    const auto row = kept->take(job);
    ASSERT_TRUE(row);
    EXPECT_EQ(row->again().job().system, kept->left[0]);
  }
  EXPECT_FALSE(kept->take(job)) << "each is taken once";
}

TEST(Bench, StopsWhenAskedTo) {
  SmallBench bench;
  EXPECT_TRUE(is_interrupted(bench.run([] { return false; })));
  EXPECT_TRUE(bench.rows.empty());
}

}  // namespace
}  // namespace infold::study
