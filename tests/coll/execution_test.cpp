// A collective on a machine: when ranks start and end, what is traced, and who is named when it hangs.
#include "coll/engine/execution.h"

#include <numeric>

#include "coll/algo/algorithms.h"
#include "support/small_program.h"

namespace infold::coll {
namespace {

class ExecutionTest : public testing::Test {
 protected:
  static gpu::MachineSpec machine_spec() {
    gpu::MachineSpec spec;
    spec.gpus = 4;
    spec.gpu.launch = 4_us;
    spec.gpu.launch_gap = 1_us;
    return spec;
  }
  Program compiled(Collective collective, sim::Bytes bytes) {
    return write_ring({.collective = collective,
                       .bytes = bytes,
                       .gpus = gpus,
                       .fabric = &machine.blueprint(),
                       .tuning = help::few_channels(2)});
  }
  Execution::Options options() { return {.values = nullptr, .trace = nullptr, .rank_done = {}}; }

  gpu::Machine machine{gpu::MachinePlan::make(machine_spec()).value(), {}};
  std::vector<int> gpus{0, 1, 2, 3};
};

TEST_F(ExecutionTest, ARankIsDoneOnceAndSaysWhen) {
  const Program program = compiled(Collective::kAllReduce, 40'000_B);
  std::vector<std::pair<int, sim::Time>> done;
  Execution::Options with_news = options();
  with_news.rank_done = [&](int rank, sim::Time at) { done.emplace_back(rank, at); };
  Execution execution(machine, program, gpus, with_news);
  for (int rank = 0; rank < 4; ++rank) execution.enqueue(rank, 0_us);
  EXPECT_FALSE(execution.done());
  machine.events().run();
  EXPECT_TRUE(execution.done());
  ASSERT_EQ(done.size(), 4u);
  for (const auto& [rank, at] : done) EXPECT_EQ(execution.finished(rank), at);
  EXPECT_TRUE(execution.who_waits().empty());
  EXPECT_TRUE(machine.quiet());
}

TEST_F(ExecutionTest, GivesItsSmsBack) {
  const Program program = compiled(Collective::kAllReduce, 40'000_B);
  Execution execution(machine, program, gpus, options());
  for (int rank = 0; rank < 4; ++rank) execution.enqueue(rank, 0_us);
  machine.events().run(4);  // the four streams come to it
  EXPECT_EQ(machine.gpu(0).workgroups(), 2) << "one a channel while it runs";
  machine.events().run();
  for (int gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(machine.gpu(gpu).workgroups(), 0);
}

TEST_F(ExecutionTest, StartsALaunchAfterItIsReached) {
  const Program program = compiled(Collective::kAllReduce, 0_B);
  Execution execution(machine, program, gpus, options());
  for (int rank = 0; rank < 4; ++rank) execution.enqueue(rank, 1_us * rank);
  machine.events().run();
  for (int rank = 0; rank < 4; ++rank) EXPECT_EQ(execution.finished(rank), 5_us + 1_us * rank);
}

TEST_F(ExecutionTest, EverybodyWaitsForALateRank) {
  const Program program = compiled(Collective::kAllReduce, 4'000_B);
  Execution execution(machine, program, gpus, options());
  for (int rank = 0; rank < 3; ++rank) execution.enqueue(rank, 0_us);
  execution.enqueue(3, 500_us);
  machine.events().run();
  for (int rank = 0; rank < 4; ++rank) EXPECT_GT(execution.finished(rank), 505_us);
}

TEST_F(ExecutionTest, NamesWhoWaitsForARankThatNeverComes) {
  const Program program = compiled(Collective::kAllReduce, 4'000_B);
  Execution execution(machine, program, gpus, options());
  for (int rank : {0, 1, 3}) execution.enqueue(rank, 0_us);
  machine.events().run();
  EXPECT_FALSE(execution.done());
  const auto lines = execution.who_waits();
  ASSERT_EQ(lines.size(), 3u * 2) << "two channels of three ranks; rank 2 never began";
  // Rank 3 gets nothing from rank 2, so rank 0 gets only what 3 sent unasked, and so on round the ring.
  EXPECT_THAT(
      lines,
      testing::Contains(testing::HasSubstr(
          "rank 3 channel 0 step 2 of 7 (recv-reduce-send), slice at byte 0: waits for data from rank 2")));
  EXPECT_THAT(
      lines,
      testing::Contains(testing::HasSubstr(
          "rank 0 channel 1 step 3 of 7 (recv-reduce-send), slice at byte 0: waits for data from rank 3")));
  EXPECT_THAT(lines,
              testing::Contains(testing::HasSubstr("rank 1 channel 0 step 4 of 7 (recv-reduce-copy-send)")));
  EXPECT_TRUE(machine.network().who_waits().empty()) << "nothing is stuck in the fabric";
}

TEST_F(ExecutionTest, AFlagFollowsItsDataAFenceLater) {
  sim::Time arrived[2];
  for (const bool fences : {false, true}) {
    gpu::MachineSpec spec = machine_spec();
    spec.gpu.fence = fences ? 7_us : 0_us;
    gpu::Machine fenced(gpu::MachinePlan::make(spec).value(), {});
    const Program program = help::sends(1);
    Execution execution(fenced, program, {0, 1}, options());
    for (const int rank : {0, 1}) execution.enqueue(rank, 0_us);
    fenced.events().run();
    arrived[fences] = execution.finished(1);
  }
  EXPECT_EQ(arrived[1] - arrived[0], 7_us);
}

// A program that only sends: the sender runs ahead by the slots of the buffer and then waits for one.
TEST_F(ExecutionTest, ASenderRunsAheadByTheBufferAndNoFurther) {
  const Program program = help::sends(6);
  Execution execution(machine, program, {0, 1}, options());
  execution.enqueue(0, 0_us);
  machine.events().run();
  EXPECT_EQ(execution.who_waits(),
            (std::vector<std::string>{"rank 0 channel 0 step 5 of 6 (send), slice at byte 0: waits "
                                      "for rank 1 to free a buffer slot"}));
  execution.enqueue(1, machine.events().now());
  machine.events().run();
  EXPECT_TRUE(execution.done());
}

TEST_F(ExecutionTest, RanksMayBeOnAnyGpus) {
  gpus = {3, 1};
  const Program program = compiled(Collective::kAllGather, 8'000_B);
  Execution execution(machine, program, gpus, options());
  execution.enqueue(0, 0_us);
  execution.enqueue(1, 0_us);
  machine.events().run();
  EXPECT_TRUE(execution.done());
  EXPECT_EQ(machine.network().payload_sent(3), 4'000u);
  EXPECT_EQ(machine.network().payload_sent(1), 4'000u);
  EXPECT_EQ(machine.network().payload_sent(0), 0u);
}

TEST_F(ExecutionTest, TracesEachStepOfEachRankAndChannel) {
  const Program program = compiled(Collective::kAllReduce, 4'000_B);
  sim::TraceRecorder trace({});
  Execution::Options traced = options();
  traced.trace = &trace;
  Execution execution(machine, program, gpus, traced);
  for (int rank = 0; rank < 4; ++rank) execution.enqueue(rank, 0_us);
  machine.events().run();
  EXPECT_EQ(trace.tracks().size(), 4u * (1 + 2));
  EXPECT_EQ(trace.tracks()[3].label, "gpu1");
  EXPECT_EQ(trace.tracks()[5].label, "channel 1");
  EXPECT_EQ(trace.tracks()[5].parent, 3u);
  EXPECT_EQ(trace.spans().size(), 4u * 2 * 7);
  EXPECT_THAT(trace.names(), testing::Contains("recv-reduce-send"));
  for (const auto& span : trace.spans()) EXPECT_LE(span.start, span.end);
}

TEST_F(ExecutionTest, SeveralMayFollowEachOtherOnOneMachine) {
  const Program program = compiled(Collective::kReduceScatter, 40'000_B);
  std::vector<std::unique_ptr<Execution>> executions;
  for (int i = 0; i < 3; ++i) {
    executions.push_back(std::make_unique<Execution>(machine, program, gpus, options()));
    for (int rank = 0; rank < 4; ++rank) executions.back()->enqueue(rank, machine.events().now());
    machine.events().run();
    EXPECT_TRUE(executions.back()->done());
    EXPECT_TRUE(machine.quiet());
  }
  const auto took = [&](int i, sim::Time from) {
    return executions[static_cast<std::size_t>(i)]->finished(0) - from;
  };
  EXPECT_GT(took(1, executions[0]->finished(0)), 5_us);
}

/// Steps by hand, on three ranks and one channel.
struct ByHand {
  ByHand() {
    program.collective = Collective::kAllReduce;
    program.bytes = 60'000_B;
    program.ranks = 3;
    program.channels = 1;
    program.tuning.threads = 64;
    program.lists.resize(3);
  }
  Step& add(int rank) {
    Step& s = program.steps(rank, 0).emplace_back();
    s.bytes = program.bytes;
    return s;
  }
  /// The rank sends its input to rank 0 and gets something back. Returns the step that receives it.
  Step& up_and_down(int rank) {
    Step& up = add(rank);
    up.to = {0};
    up.uses_input = true;
    Step& down = add(rank);
    down.from = {0};
    return down;
  }
  void run(sim::Bytes burst, Values* values) {
    gpu::MachineSpec spec;
    spec.gpus = 3;
    machine =
        std::make_unique<gpu::Machine>(gpu::MachinePlan::make(spec).value(),
                                       gpu::MachineOptions{.burst = burst, .functional = values != nullptr});
    Execution execution(*machine, program, {0, 1, 2}, {.values = values, .trace = nullptr, .rank_done = {}});
    for (int rank = 0; rank < 3; ++rank) execution.enqueue(rank, {});
    machine->events().run();
    EXPECT_TRUE(execution.done());
    EXPECT_TRUE(machine->quiet());
    end = execution.finished(1);
  }
  Program program;
  std::unique_ptr<gpu::Machine> machine;
  sim::Time end;
};

// Rank 0 folds what both others send with its own and sends the sum to both, each of three times over.
TEST(Execution, AStepMayReceiveFromSeveralAndSendToSeveral) {
  ByHand hand;
  for (int rank : {1, 2}) hand.up_and_down(rank).writes_output = true;
  Step& both = hand.add(0);
  both.from = both.to = {1, 2};
  both.uses_input = both.writes_output = both.finishes = true;
  EXPECT_EQ(both.loads(), 3);
  for (sim::Bytes burst : {0_B, 4_KiB}) {
    Values values(Collective::kAllReduce, 60'000_B, 3, DataType::kFp32, ReduceOp::kAvg, 9);
    hand.run(burst, &values);
    EXPECT_EQ(values.wrong(), 0u);
    const gpu::Traffic memory = hand.machine->gpu(0).memory().traffic().total();
    EXPECT_EQ(memory.l2_read, 3u * 60'000) << "loaded once, however many it is sent to";
    EXPECT_EQ(memory.l2_written, 3u * 60'000) << "two that arrive, and the output";
    EXPECT_EQ(hand.machine->network().payload_sent(0), 2u * 60'000) << "each receiver has a copy sent";
    const sim::Time with_values = hand.end;
    hand.run(burst, nullptr);
    EXPECT_EQ(hand.end, with_values);
  }
}

// Rank 0 sums up in its output, one rank after the other; then it puts the result where it belongs.
TEST(Execution, AStepMayFoldWhatIsHeldAndPutItIntoTheOutputsOfOthers) {
  ByHand hand;
  for (int rank : {1, 2}) {
    hand.up_and_down(rank).landed = true;
    Step& first = hand.add(0);
    first.from = {rank};
    (rank == 1 ? first.uses_input : first.uses_held) = true;
    first.finishes = rank == 2;
    first.writes_output = true;
  }
  Step& put = hand.add(0);
  put.to = {1, 2};
  put.uses_held = put.lands = true;
  Values values(Collective::kAllReduce, 60'000_B, 3, DataType::kInt32, ReduceOp::kSum, 9);
  hand.run(0_B, &values);
  EXPECT_EQ(values.wrong(), 0u);
  const gpu::Traffic memory = hand.machine->gpu(1).memory().traffic().total();
  EXPECT_EQ(memory.l2_read, 60'000u) << "its input; nothing is copied out of a buffer";
  EXPECT_EQ(memory.l2_written, 60'000u);
}

TEST(Execution, AStepWithoutBytesIsAFlag) {
  ByHand hand;
  hand.program.bytes = 0_B;
  for (int rank = 0; rank < 3; ++rank) {
    const Peers others{(rank + 1) % 3, (rank + 2) % 3};
    hand.add(rank).to = others;
    hand.add(rank).from = others;
  }
  hand.run(0_B, nullptr);
  EXPECT_EQ(hand.machine->network().payload_sent(0), 0u);
  EXPECT_GT(hand.end, hand.machine->spec().gpu.launch + hand.machine->spec().gpu.poll);
}

TEST(Execution, CarriesValuesOnAFunctionalMachine) {
  gpu::MachineSpec spec;
  spec.gpus = 3;
  gpu::Machine machine(gpu::MachinePlan::make(spec).value(), {.burst = 4_KiB, .functional = true});
  const std::vector<int> gpus{0, 1, 2};
  Values values(Collective::kAllReduce, 60'000_B, 3, DataType::kFp32, ReduceOp::kSum, 9);
  const Tuning tuning;
  const Program program = write_ring({.collective = Collective::kAllReduce,
                                      .bytes = 60'000_B,
                                      .gpus = gpus,
                                      .fabric = &machine.blueprint(),
                                      .tuning = tuning});
  Execution execution(machine, program, gpus, {.values = &values, .trace = nullptr, .rank_done = {}});
  for (int rank = 0; rank < 3; ++rank) execution.enqueue(rank, {});
  machine.events().run();
  EXPECT_EQ(values.wrong(), 0u);
  store(values.type(), values.output(1), 100, 99.0);
  EXPECT_EQ(values.wrong(), 1u);
}

}  // namespace
}  // namespace infold::coll
