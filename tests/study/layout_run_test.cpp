// Steps of ranks that share a model, whatever the layout and the strategy.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "step_help.h"
#include "study/step/planned_step.h"

namespace infold::study {
namespace {

using namespace sim::literals;

template <class L>
train::Node node(L layer) {
  return {train::Layer{layer}, {}};
}

/// Four blocks of attention and a network or experts.
train::Graph blocks(bool routed) {
  train::Embedding words;
  words.rows = 512;
  words.width = 256;
  train::Attention attention;
  attention.heads = 8;
  attention.bias = false;
  attention.causal = true;
  train::Linear up;
  up.out = 1024;
  up.bias = false;
  train::Linear down = up;
  down.out = 256;
  train::Linear last = up;
  last.out = 512;
  train::Experts experts;
  experts.count = 4;
  experts.top = 2;
  experts.inner = 256;
  train::Branches mix;
  mix.body = {node(train::RmsNorm{}), node(attention)};
  train::Branches feed;
  feed.body = {node(train::RmsNorm{}), node(up), node(train::Activation{}), node(down)};
  if (routed) feed.body = {node(train::RmsNorm{}), node(experts)};
  train::Model m;
  m.input.tokens = 256;
  m.layers = {node(words), train::Node{train::Repeat{4, {train::Node{mix, {}}, train::Node{feed, {}}}}, {}},
              node(train::RmsNorm{}), node(last), node(train::Loss{})};
  return train::build_graph(m).value();
}

struct Case {
  const char* name;
  train::SyncKind sync = train::SyncKind::kDdp;
  train::Layout layout{.dp = 0};
  bool sp = false;
  bool routed = false;
  train::ScheduleKind schedule = train::ScheduleKind::k1f1b;
  train::ExpertExchange experts = train::ExpertExchange::kAllToAll;
};
using enum train::SyncKind;
using enum train::ScheduleKind;
const Case kCases[] = {
    {.name = "ddp"},
    {.name = "zero1", .sync = kZero1},
    {.name = "zero2", .sync = kZero2},
    {.name = "fsdp", .sync = kFsdp},
    {.name = "hsdp", .sync = kHsdp},
    {.name = "tp", .layout = {.dp = 0, .tp = 4}},
    {.name = "tp_sp", .layout = {.dp = 0, .tp = 4}, .sp = true},
    {.name = "tp_fsdp", .sync = kFsdp, .layout = {.dp = 0, .tp = 2}, .sp = true},
    {.name = "cp", .layout = {.dp = 0, .cp = 4}},
    {.name = "ep", .layout = {.dp = 0, .ep = 4}, .routed = true},
    {.name = "ep_multicast",
     .layout = {.dp = 0, .ep = 4},
     .routed = true,
     .experts = train::ExpertExchange::kMulticast},
    {.name = "ep_fsdp", .sync = kFsdp, .layout = {.dp = 0, .ep = 2}, .routed = true},
    {.name = "gpipe", .layout = {.dp = 0, .pp = 4}, .schedule = kGpipe},
    {.name = "one_forward_one_backward", .layout = {.dp = 0, .pp = 2}},
    {.name = "interleaved", .layout = {.dp = 0, .pp = 2}, .schedule = kInterleaved},
    {.name = "zero_bubble", .layout = {.dp = 0, .pp = 4}, .schedule = kZeroBubble},
    {.name = "zero1_pp", .sync = kZero1, .layout = {.dp = 0, .pp = 2}},
    {.name = "tp_pp", .layout = {.dp = 0, .tp = 2, .pp = 2}, .sp = true},
};

struct Layouts : testing::TestWithParam<Case> {
  Layouts() {
    const Case& c = GetParam();
    step.graph = blocks(c.routed);
    step.job.layout = c.layout;
    step.job.sequence_parallel = c.sp;
    step.job.expert_exchange = c.experts;
    step.job.sync.kind = c.sync;
    step.job.sync.shard = 2;
    step.job.recipe = {.batch = 2, .numbers = train::Numbers::kBf16, .fusion = train::Fusion::kFused};
    step.job.pipeline = {.schedule = c.schedule,
                         .micro_batches = c.layout.pp > 1 ? 4 : 1,
                         .virtual_stages = c.schedule == kInterleaved ? 2 : 1};
  }
  SmallStep step;
};

TEST_P(Layouts, EveryWaitOfComputeBelongsToACommunicator) {
  const StepResult r = step.result();
  ASSERT_FALSE(r.communication.empty());
  sim::Time exposed;
  for (const CommunicationUse& c : r.communication) {
    EXPECT_GT(c.calls, 0);
    EXPECT_GT(c.busy, 0_ns);
    exposed += c.exposed;
  }
  EXPECT_EQ(exposed, r.waited);
  EXPECT_EQ(r.bubble > 0_ns, GetParam().layout.pp > 1);
  sim::Time kernels;
  for (const KernelUse& k : r.kernels) kernels += k.beside;
  EXPECT_LE(kernels + r.waited, r.end);
}

/// Where compute waited, a kernel finds memory at another moment of its write bursts than right behind the
/// kernel before it, so that its time is not the same to the picosecond.
TEST_P(Layouts, WhereNothingIsSharedKernelsTakeAsLongAsAlone) {
  step.job.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  for (const KernelUse& k : step.result().kernels) EXPECT_NEAR(k.slowdown(), 0, 0.02) << sim::name_of(k.what);
}

TEST_P(Layouts, PhasesAreNotLongerThanTheStep) {
  const StepResult r = step.result();
  EXPECT_GE(r.between_phases(), 0_ns);
  EXPECT_LT(r.between_phases(), r.end / 2);
}

TEST_P(Layouts, MemoryOverTimeReachesWhatIsReportedAndNoMore) {
  step.job.trace = sim::TraceSpec{};
  const StepResult r = step.result();
  ASSERT_EQ(r.history.memory.size(), static_cast<std::size_t>(GetParam().layout.pp));
  std::int64_t highest = 0;
  for (const MemoryOverTime& m : r.history.memory) {
    EXPECT_TRUE(std::ranges::is_sorted(m.levels, {}, &MemoryOverTime::Level::from));
    EXPECT_EQ(m.levels.back().passing + m.levels.back().gathered, 0) << "nothing is left at the end";
    for (const auto& l : m.levels) {
      EXPECT_GE(l.passing, 0);
      highest = std::max(highest, m.kept.count() + l.passing + l.gathered);
    }
  }
  EXPECT_EQ(highest, r.memory.total().count());
}

TEST_P(Layouts, CommunicationOfTheHistoryIsThatOfTheResult) {
  step.job.trace = sim::TraceSpec{};
  const StepResult r = step.result();
  ASSERT_EQ(r.history.communication.size(), r.communication.size());
  for (const CommunicationUse& use : r.communication) {
    const auto same = std::ranges::find_if(r.history.communication, [&](const CommunicationSpans& c) {
      return c.communicator == use.communicator && c.what == use.what;
    });
    ASSERT_NE(same, r.history.communication.end());
    sim::Time busy;
    for (const auto& s : same->spans) busy += s.end - s.start;
    EXPECT_EQ(busy, use.busy);
    EXPECT_EQ(same->spans.size(), static_cast<std::size_t>(use.calls));
  }
}

TEST_P(Layouts, TheSameStepTakesTheSameTime) {
  const StepResult first = step.result();
  const StepResult second = step.result();
  EXPECT_EQ(first.end, second.end);
  EXPECT_EQ(first.events, second.events);
}

INSTANTIATE_TEST_SUITE_P(All, Layouts, testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

TEST(Layout, ExpertsInTheSwitchHaveTheirPartOfTheTables) {
  SmallStep step;
  step.graph = blocks(true);
  step.job.layout = {.dp = 0, .ep = 4};
  step.job.recipe = {.batch = 2, .numbers = train::Numbers::kBf16};
  step.job.method.algorithm = coll::find_algorithm("inc-push");
  const StepResult copies = step.result();
  step.job.expert_exchange = train::ExpertExchange::kMulticast;
  const StepResult once = step.result();
  const auto of = [](const StepResult& r, std::string_view name) {
    const auto found = std::ranges::find(r.tables, name, &TableUse::communicator);
    return found == r.tables.end() ? std::uint64_t{0} : found->sums;
  };
  EXPECT_EQ(of(copies, "ep"), 0u) << "an all-to-all is not reduced";
  EXPECT_GT(of(once, "ep"), 0u);
  EXPECT_GT(of(once, "data parallel"), 0u);
  for (const CommunicationUse& c : once.communication) {
    if (c.communicator == "ep") {
      EXPECT_EQ(c.algorithms, std::vector<std::string>{"inc-push"});
    }
  }
}

TEST(Layout, ShardsTakeLessMemory) {
  SmallStep step;
  step.graph = blocks(false);
  step.job.recipe = {.batch = 2, .numbers = train::Numbers::kBf16, .optimizer = train::Optimizer::kAdam};
  const auto need = [&](train::SyncKind kind) {
    step.job.sync.kind = kind;
    return step.result().memory;
  };
  EXPECT_LT(need(kZero1).optimizer, need(kDdp).optimizer);
  EXPECT_LT(need(kZero2).gradients, need(kZero1).gradients);
  EXPECT_LT(need(kFsdp).weights, need(kZero2).weights);
}

/// Stages do one pass at a time, each micro-batch by each part forward and back, and hand it on.
TEST(PipelineHistory, HoldsEveryPassOfEveryStage) {
  for (const auto schedule : {kGpipe, k1f1b, kInterleaved, kZeroBubble}) {
    SCOPED_TRACE(sim::name_of(schedule));
    SmallStep step;
    step.graph = blocks(false);
    step.job.layout = {.dp = 0, .pp = 2};
    step.job.recipe = {.batch = 2, .numbers = train::Numbers::kBf16};
    const int parts = schedule == kInterleaved ? 2 : 1;
    step.job.pipeline = {.schedule = schedule, .micro_batches = 4, .virtual_stages = parts};
    const StepResult r = step.result();
    const std::size_t kinds = schedule == kZeroBubble ? 3 : 2;
    ASSERT_EQ(r.history.pipeline.size(), 2 * (4 * static_cast<std::size_t>(parts) * kinds + 1));
    sim::Time last;
    std::map<std::pair<int, int>, sim::Time> forward;  // by stage and micro-batch
    for (std::size_t i = 0; i < r.history.pipeline.size(); ++i) {
      const StagePass& p = r.history.pipeline[i];
      EXPECT_LT(p.start, p.end);
      if (i > 0 && r.history.pipeline[i - 1].stage == p.stage) {
        EXPECT_LE(r.history.pipeline[i - 1].end, p.start);
      }
      if (p.pass && p.pass->kind == train::PassKind::kForward && p.pass->chunk == 0)
        forward[{p.stage, p.pass->micro_batch}] = p.stage == 0 ? p.end : p.start;
      last = sim::max(last, p.end);
    }
    for (int m = 0; m < 4; ++m) EXPECT_LT((forward.at({0, m})), (forward.at({1, m})));
    EXPECT_LE(last, r.end);
    EXPECT_GT(last + last / 10, r.end) << "the other ranks of a stage end at about the same time";
    EXPECT_TRUE(r.history.memory.empty()) << "nothing was to be recorded";
  }
}

TEST(MemoryOverTime, OfThoseThatComeTogetherTheLargestIsKept) {
  MemoryOverTime memory{.kept = sim::Bytes{7}};
  for (int i = 0; i < 100; ++i) memory.levels.push_back({.from = sim::Time::ns(i), .passing = i % 10});
  memory.levels.push_back({.from = sim::Time::ns(100)});
  const MemoryOverTime few = thinned(memory, 11);
  ASSERT_EQ(few.levels.size(), 11U);
  EXPECT_EQ(few.kept, memory.kept);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(few.levels[i].passing, 9);
    EXPECT_EQ(few.levels[i].from, sim::Time::ns(static_cast<std::int64_t>(10 * i)));
  }
  EXPECT_EQ(few.levels.back().from, sim::Time::ns(100));
  EXPECT_EQ(thinned(memory, 101).levels.size(), 101U);
}

TEST(Layout, DataTensorAndPipelineCombineWithZero1) {
  SmallStep step;
  step.system = small_system(8, 2);
  step.prepare_system();
  step.graph = blocks(false);
  step.job.gpus = 8;
  step.job.layout = {.dp = 2, .tp = 2, .pp = 2};
  step.job.pipeline.micro_batches = 4;
  step.job.recipe = {.batch = 2, .numbers = train::Numbers::kBf16, .optimizer = train::Optimizer::kAdam};
  const StepResult whole = step.result();
  step.job.sync.kind = kZero1;
  const StepResult sharded = step.result();
  EXPECT_LT(sharded.memory.optimizer, whole.memory.optimizer);
  EXPECT_EQ(sharded.memory.weights, whole.memory.weights);
  const auto calls = [](const StepResult& r, coll::Collective what) {
    int sum = 0;
    for (const CommunicationUse& c : r.communication) {
      if (c.communicator == "dp" && c.what == what) sum += c.calls;
    }
    return sum;
  };
  EXPECT_GT(calls(whole, coll::Collective::kAllReduce), 0);
  EXPECT_EQ(calls(sharded, coll::Collective::kAllReduce), 0);
  EXPECT_GT(calls(sharded, coll::Collective::kReduceScatter), 0);
  EXPECT_EQ(calls(sharded, coll::Collective::kReduceScatter), calls(sharded, coll::Collective::kAllGather));
}

TEST(Layout, SaysWhatCannotBe) {
  SmallStep step;
  step.graph = blocks(false);
  step.job.layout = {.dp = 0, .tp = 3};
  EXPECT_NE(why(run(step.job, {})).find("cannot be divided"), std::string::npos);
  step.job.layout = {.dp = 0, .tp = 4};
  step.job.sync.kind = kFsdp;
  EXPECT_NE(why(run(step.job, {})).find("no two GPUs have the same parameters"), std::string::npos);
  step.job.layout = {.dp = 0, .pp = 2};
  EXPECT_NE(why(run(step.job, {})).find("--pp goes with --sync ddp"), std::string::npos);
  step.graph = blocks(true);
  step.job.sync.kind = kDdp;
  step.job.layout = {.dp = 2, .tp = 2, .ep = 2};
  step.job.expert_exchange = train::ExpertExchange::kMulticast;
  EXPECT_NE(why(run(step.job, {})).find("which have whole experts"), std::string::npos);
}

}  // namespace
}  // namespace infold::study
