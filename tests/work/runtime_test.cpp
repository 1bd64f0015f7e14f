// Graphs on machines: order, waits, times, and who is named when it hangs.
#include "work/runtime.h"

#include "graph_help.h"
#include "support/ring_programs.h"
#include "work/check.h"

namespace infold::work {
namespace {

using namespace help;

class RuntimeTest : public testing::Test {
 protected:
  static gpu::MachineSpec machine_spec() {
    gpu::MachineSpec spec;
    spec.gpus = 4;
    spec.gpu.sms = 16;
    spec.gpu.launch = 4_us;
    spec.gpu.launch_gap = 1_us;
    return spec;
  }
  Programs programs() { return rings_.on(machine_.blueprint()); }
  void run(RuntimeOptions options = {}) {
    const sim::Status checked = check(graph_);
    ASSERT_TRUE(checked) << checked.error().message;
    options.programs = programs();
    runtime_.emplace(graph_, machine_, std::move(options));
    runtime_->start();
    machine_.events().run();
    EXPECT_TRUE(runtime_->done());
    for (const std::string& line : runtime_->who_waits()) ADD_FAILURE() << line;
    EXPECT_TRUE(machine_.quiet());
  }
  Runtime::Times times(int rank, OpId op) const { return runtime_->times(rank, op); }

  gpu::Machine machine_{gpu::MachinePlan::make(machine_spec()).value(), {}};
  Graph graph_ = graph_of(4);
  infold::help::RingPrograms rings_;
  std::optional<Runtime> runtime_;
};

TEST_F(RuntimeTest, AStreamKeepsItsOrder) {
  const OpId a = graph_.add(timed(10_us));
  const OpId b = graph_.add(timed(20_us));
  compute(graph_).ops = {b, a};
  run();
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(times(r, b).end, 21_us) << "a launch, and what it takes";
    EXPECT_EQ(times(r, a).start, 22_us);
    EXPECT_EQ(times(r, a).end, 32_us);
  }
}

TEST_F(RuntimeTest, ACollectiveBeginsWhenItIsReadyAndComputeWaitsForIt) {
  const OpId a = graph_.add(compute(graph_), timed(10_us));
  const OpId sum = graph_.add(communication(graph_), all_reduce(graph_, 64_KiB, {a}));
  const OpId beside = graph_.add(compute(graph_), timed(5_us));
  const OpId last = graph_.add(compute(graph_), timed(1_us, {sum}));
  run();
  EXPECT_EQ(times(2, sum).ready, times(2, a).end);
  EXPECT_EQ(times(2, sum).start, times(2, a).end);
  EXPECT_EQ(times(2, beside).start, times(2, a).end + 1_us) << "kernels go on meanwhile";
  EXPECT_EQ(times(2, last).start, times(2, sum).end + 1_us);
}

TEST_F(RuntimeTest, CollectivesOfACommunicatorRunOneAfterTheOtherInTheirOrder) {
  const OpId late = graph_.add(compute(graph_), timed(50_us));
  const OpId first = graph_.add(communication(graph_), all_reduce(graph_, 64_KiB, {late}));
  const OpId second = graph_.add(communication(graph_), all_reduce(graph_, 64_KiB));
  run();
  for (int r = 0; r < 4; ++r) {
    EXPECT_EQ(times(r, second).ready, 0_us);
    EXPECT_EQ(times(r, second).start, times(r, first).end) << "its turn comes when it has ended on this rank";
  }
}

TEST_F(RuntimeTest, CommunicatorsRunBesideEachOther) {
  graph_.communicators.push_back({.name = "other", .groups = {{0, 1, 2, 3}}, .priority = 1});
  graph_.scripts[0].streams.push_back(
      {.name = "other", .kind = Stream::Kind::kCommunication, .communicator = 1});
  const OpId a = graph_.add(communication(graph_), all_reduce(graph_, 1_MiB));
  const OpId b = graph_.add(graph_.scripts[0].streams.back(),
                            {.what = Collective{.communicator = 1, .buffer = graph_.add(Buffer{1_MiB})}});
  run();
  EXPECT_EQ(times(0, a).start, times(0, b).start);
  EXPECT_LT(times(0, b).start, times(0, a).end);
}

TEST_F(RuntimeTest, OneRankMaySendToAnother) {
  graph_.communicators[0].groups = {{0, 1}, {2, 3}};
  const OpId a = graph_.add(compute(graph_), timed(10_us));
  const OpId sent = graph_.add(
      communication(graph_),
      {.what = Transfer{.communicator = 0, .buffer = graph_.add(Buffer{64_KiB}), .from = 0}, .after = {a}});
  run();
  EXPECT_GT(times(1, sent).end, times(0, a).end);
  EXPECT_EQ(machine_.network().payload_sent(0), 65536U);
  EXPECT_EQ(machine_.network().payload_sent(1), 0U);
  EXPECT_EQ(machine_.network().payload_sent(2), 65536U);
}

TEST_F(RuntimeTest, AStageWaitsForTheOneBefore) {
  // Ranks 0 and 1 do one thing, ranks 2 and 3 another, with what the first two send.
  graph_.communicators[0].groups = {{0, 2}, {1, 3}};
  graph_.scripts.push_back(graph_.scripts[0]);
  graph_.script_of = {0, 0, 1, 1};
  const BufferId b = graph_.add(Buffer{64_KiB});
  const OpId made = graph_.add(compute(graph_, 0), timed(30_us));
  const OpId send = graph_.add(communication(graph_, 0),
                               {.what = Transfer{.communicator = 0, .buffer = b}, .after = {made}});
  const OpId receive =
      graph_.add(communication(graph_, 1), {.what = Transfer{.communicator = 0, .buffer = b}});
  const OpId used = graph_.add(compute(graph_, 1), timed(5_us, {receive}));
  run();
  for (const int r : {2, 3}) {
    EXPECT_EQ(times(r, receive).start, 0_us);
    EXPECT_GT(times(r, receive).end, times(r - 2, made).end);
    EXPECT_EQ(times(r, used).start, times(r, receive).end + 1_us);
  }
  EXPECT_GT(times(0, send).end, 30_us);
}

TEST_F(RuntimeTest, AHostDelayHoldsUpWhatIsBehindIt) {
  const OpId a = graph_.add(compute(graph_), timed(2_us));
  const OpId wait = graph_.add(compute(graph_), {.what = Delay{10_us}});
  const OpId b = graph_.add(compute(graph_), timed(2_us));
  run();
  EXPECT_EQ(times(0, a).end, 3_us);
  EXPECT_EQ(times(0, wait).end, 10_us);
  EXPECT_EQ(times(0, b).start, 11_us);
}

TEST_F(RuntimeTest, ALateRankHoldsUpTheOthers) {
  const OpId a = graph_.add(compute(graph_), timed(10_us));
  const OpId sum = graph_.add(communication(graph_), all_reduce(graph_, 64_KiB, {a}));
  run({.delays = {0_us, 0_us, 0_us, 200_us}});
  EXPECT_EQ(times(0, a).end, 11_us);
  EXPECT_EQ(times(3, a).end, 211_us);
  EXPECT_GT(times(0, sum).end, 211_us);
}

TEST_F(RuntimeTest, CopiesBesideComputeRunAsTheyBecomeReady) {
  const TensorId t = graph_.add(TensorSpec{.rows = 64, .cols = 64});
  const OpId early = graph_.add(compute(graph_), timed(10_us));
  const OpId late = graph_.add(compute(graph_), timed(100_us));
  const OpId sum = graph_.add(all_reduce(graph_, 8_KiB));
  const OpId second =
      graph_.add(copies(graph_), {.what = Copy{.tensor = t, .for_communication = true}, .after = {late}});
  const OpId first =
      graph_.add(copies(graph_), {.what = Copy{.tensor = t, .for_communication = true}, .after = {early}});
  graph_[sum].after = {second};
  communication(graph_).ops = {sum};
  run();
  EXPECT_LT(times(0, first).end, times(0, second).start);
  EXPECT_EQ(times(0, first).start, times(0, early).end + 1_us);
}

/// A kernel writes a tensor, its sum over all ranks is made, and a kernel reads that.
std::vector<OpId> sum_of_a_tensor(Graph& g, int element_bytes, bool in_place) {
  const TensorId t = g.add(TensorSpec{.rows = 512, .cols = 512, .element_bytes = element_bytes});
  const auto kernel = [&](std::vector<TensorId> reads, std::vector<TensorId> writes,
                          std::vector<OpId> after) {
    return g.add(compute(g), {.what = Kernel{.what = Streaming{{{std::move(reads), std::move(writes), 1}}}},
                              .after = std::move(after)});
  };
  const OpId made = kernel({}, {t}, {});
  const BufferId b = g.add(Buffer{.bytes = sim::Bytes{std::int64_t{512} * 512 * element_bytes},
                                  .input = in_place ? t : -1,
                                  .output = in_place ? t : -1});
  const OpId sum = g.add(communication(g), {.what = Collective{.buffer = b}, .after = {made}});
  return {made, sum, kernel({t}, {}, {sum})};
}

TEST_F(RuntimeTest, ACollectiveWorksInTheMemoryOfItsTensors) {
  const std::vector<OpId> ops = sum_of_a_tensor(graph_, 2, true);
  run();
  EXPECT_EQ(machine_.gpu(0).memory().traffic().total().hbm_read, 0U) << "what it reads is in L2";
  EXPECT_LT(times(0, ops[1]).end, times(0, ops[2]).start);
}

TEST_F(RuntimeTest, WithoutTensorsACollectiveHasMemoryOfItsOwn) {
  sum_of_a_tensor(graph_, 2, false);
  run();
  EXPECT_GE(machine_.gpu(0).memory().traffic().total().hbm_read, 512U * 512 * 2);
}

TEST_F(RuntimeTest, BlocksOfAnotherSizeAreNoBuffer) {
  sum_of_a_tensor(graph_, 4, true);
  run();
  EXPECT_GE(machine_.gpu(0).memory().traffic().total().hbm_read, 512U * 512 * 4);
}

TEST_F(RuntimeTest, WithoutCommunicationTensorsLieWhereTheyDidBeside) {
  const std::vector<OpId> ops = sum_of_a_tensor(graph_, 2, true);
  sim::EventQueue events;
  const gpu::MachineSpec spec = machine_spec();  // the core refers to it
  gpu::Core core(spec.gpu, events, {});
  Runtime alone(without_communication(graph_), core, {.programs = programs()});
  alone.start();
  events.run();
  EXPECT_TRUE(alone.done());
  EXPECT_EQ(alone.times(0, ops[2]).start, alone.times(0, ops[0]).end + 1_us);
  EXPECT_EQ(core.addresses().tensor(64, 64, 2).at(0).key, 1U + 64) << "one tensor of 64 blocks";
}

TEST_F(RuntimeTest, RanksInStepGiveTheSameTimesAsEachByItself) {
  const OpId a = graph_.add(compute(graph_), timed(10_us, {}, 8));
  const OpId sum = graph_.add(communication(graph_), all_reduce(graph_, 256_KiB, {a}));
  const OpId b = graph_.add(compute(graph_), timed(30_us, {}, 16));
  graph_.add(compute(graph_), marker("end"));
  const OpId c = graph_.add(compute(graph_), timed(10_us, {sum}));
  run({.together = true});
  const std::vector<OpId> all = {a, sum, b, c};
  std::vector<sim::Time> ends;
  for (int r = 0; r < 4; ++r) {
    for (const OpId op : all) ends.push_back(times(r, op).end);
  }
  gpu::Machine again(gpu::MachinePlan::make(machine_spec()).value(), {});
  Runtime each(graph_, again, {.programs = programs()});
  each.start();
  again.events().run();
  std::vector<sim::Time> expected;
  for (int r = 0; r < 4; ++r) {
    for (const OpId op : all) expected.push_back(each.times(r, op).end);
  }
  EXPECT_EQ(ends, expected);
  EXPECT_LT(machine_.events().handled(), again.events().handled());
}

TEST_F(RuntimeTest, WhatIsGatheredIsReducedInCycles) {
  Gather gather{.communicator = 0, .copies = 2, .cycle = 100_us, .most = 1_MiB};
  for (int i = 0; i < 3; ++i) {
    graph_.add(compute(graph_), timed(40_us));
    gather.parts.push_back({graph_.add(compute(graph_), marker()), 64_KiB, i});
  }
  const OpId all = graph_.add(host(graph_), {.what = gather, .name = "all"});
  const OpId last = graph_.add(compute(graph_), timed(1_us, {all}));
  run();
  const std::vector<OpId> reduced = runtime_->communications(0);
  ASSERT_EQ(reduced.size(), 2U) << "two are there at 100 us, the third at 200 us";
  EXPECT_EQ(runtime_->graph()[reduced[0]].gradients, (std::vector{0, 1}));
  EXPECT_EQ(runtime_->graph()[reduced[1]].gradients, (std::vector{2}));
  EXPECT_GT(times(0, reduced[0]).ready, 100_us) << "when it has been copied";
  EXPECT_EQ(times(0, reduced[1]).ready, 200_us + machine_spec().gpu.host_enqueue);
  EXPECT_GT(times(0, last).start, times(0, reduced[1]).end);
  EXPECT_DOUBLE_EQ(runtime_->share(), 1);
}

TEST_F(RuntimeTest, SaysWhoWaitsForWhom) {
  // Not run through check(), which would refuse it.
  const OpId sum = graph_.add(communication(graph_), all_reduce(graph_, 8_KiB));
  graph_.add(compute(graph_), marker("first", {sum}));
  graph_[sum].after = {graph_.add(compute(graph_), marker("second"))};
  Runtime runtime(graph_, machine_, {.programs = programs()});
  runtime.start();
  machine_.events().run();
  EXPECT_FALSE(runtime.done());
  EXPECT_THAT(runtime.who_waits(), testing::Contains("rank 3 compute: first waits for collective 0"));
  EXPECT_THAT(runtime.who_waits(), testing::Contains("rank 3 communication: collective 0 waits for second"));
}

TEST(RuntimeAlone, RunsOneRankWithoutAMachine) {
  Graph g = graph_of(4);
  const OpId a = g.add(compute(g), timed(10_us));
  const OpId sum = g.add(communication(g), all_reduce(g, 8_KiB, {a}));
  const OpId b = g.add(compute(g), timed(10_us, {sum}));
  const gpu::GpuSpec spec;
  sim::EventQueue events;
  gpu::Core core(spec, events, {});
  coll::Program program;
  program.bytes = 8_KiB;
  program.ranks = 4;
  Runtime runtime(without_communication(g), core,
                  {.programs = [&](const Operation&, sim::Bytes,
                                   const std::vector<int>&) -> const coll::Program& { return program; }});
  EXPECT_EQ(runtime.kernels(0).share_ended(), 0);
  runtime.start();
  events.run();
  EXPECT_TRUE(runtime.done());
  EXPECT_EQ(runtime.kernels(0).share_ended(), 1);
  EXPECT_EQ(runtime.times(0, b).start, runtime.times(0, a).end + spec.launch_gap);
}

}  // namespace
}  // namespace infold::work
