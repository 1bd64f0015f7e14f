// Steps of ranks that share a model, on machines: they end, ranks do the same, and what shares nothing is not
// slowed down.
#include "model_help.h"
#include "support/live_memory.h"
#include "support/unshared_run.h"
#include "train/strategy/pass_writer.h"
#include "train/strategy/step_memory.h"

namespace infold::train {
namespace {

using namespace help;

/// A block of attention and a gated network or experts, twice.
Graph model(bool routed) {
  Embedding words;
  words.rows = 96;
  words.width = 64;
  Attention attention;
  attention.heads = 8;
  attention.kv_heads = 4;
  attention.bias = false;
  attention.causal = true;
  attention.rotary = true;
  Experts experts;
  experts.count = 8;
  experts.top = 2;
  experts.inner = 64;
  Activation silu;
  silu.kind = Activation::Kind::kSilu;
  Branches mix;
  mix.body = {node(RmsNorm{}), node(attention)};
  Branches gate;
  gate.join = Branches::Join::kMultiply;
  gate.body = {node(linear(128, false)), node(silu)};
  gate.shortcut = {node(linear(128, false))};
  Branches feed;
  feed.body = {node(RmsNorm{}), Node{gate, {}}, node(linear(64, false))};
  if (routed) feed.body = {node(RmsNorm{}), node(experts)};
  Model m;
  m.input.tokens = 64;
  m.layers = {node(words), Node{Repeat{2, {Node{mix, {}}, Node{feed, {}}}}, {}}, node(RmsNorm{}),
              node(linear(96, false)), node(Loss{})};
  return graph(m);
}

struct SplitCase {
  bool routed = false;
  Layout layout;
  bool sp = false;
  KeyExchange keys = KeyExchange::kAllGather;
  ExpertExchange experts = ExpertExchange::kAllToAll;
};
const std::vector<SplitCase> kSplitCases = {
    {.layout = {.tp = 4}},
    {.layout = {.tp = 4}, .sp = true},
    {.layout = {.cp = 4}},
    {.layout = {.cp = 4}, .keys = KeyExchange::kRing},
    {.layout = {.tp = 2, .cp = 2}, .sp = true, .keys = KeyExchange::kRing},
    {.layout = {.tp = 2, .cp = 2}, .sp = true},
    {.routed = true, .layout = {.dp = 4, .ep = 4}},
    {.routed = true, .layout = {.dp = 4, .ep = 4}, .experts = ExpertExchange::kMulticast},
    {.routed = true, .layout = {.dp = 2, .tp = 2, .ep = 2}, .sp = true}};

class SplitRun : public testing::TestWithParam<SplitCase> {
 protected:
  SplitRun() {
    const SplitCase& c = GetParam();
    plan_ = make_plan(model(c.routed),
                      {.batch = 2, .numbers = Numbers::kBf16, .recompute = Recompute::kSelective},
                      split_of(c.layout, c.sp, 1, c.keys, c.experts))
                .value();
    graph_.script_of.assign(static_cast<std::size_t>(c.layout.ranks()), 0);
    graph_.scripts = {{.streams = {{.name = "compute"}}}};
    AxisStreams axes(graph_, c.layout);
    PassWriter writer(graph_, plan_, axes);
    for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer}) writer.run(phase);
  }

  Plan plan_;
  work::Graph graph_;
};

TEST_P(SplitRun, EndsAndNothingThatSharesNothingIsSlower) {
  const infold::help::UnsharedRun run(graph_);
  ASSERT_TRUE(run.done());
  int kernels = 0;
  for (work::OpId op = 0; op < static_cast<work::OpId>(graph_.operations.size()); ++op) {
    if (work::communicator_of(graph_[op]) >= 0) continue;
    ++kernels;
    for (int rank = 0; rank < infold::help::UnsharedRun::kRanks; ++rank)
      EXPECT_EQ(run.beside(rank, op), run.alone(op)) << op;
  }
  EXPECT_GT(kernels, 100);
}

TEST_P(SplitRun, ActivationsAreNeverAboveWhatIsReported) {
  const infold::help::UnsharedRun run(graph_);
  ASSERT_TRUE(run.done());
  StepGraph step;
  step.graph = graph_;
  const MemoryNeed need =
      memory_need(StepRequest{.plan = plan_, .layout = GetParam().layout, .sync = {}}, step);
  for (int rank = 0; rank < infold::help::UnsharedRun::kRanks; ++rank) {
    const infold::help::LiveMemory live(run.runtime(), rank);
    EXPECT_GT(live.most(), 0);
    EXPECT_LE(live.most(), need.passing.count());
  }
}

INSTANTIATE_TEST_SUITE_P(All, SplitRun, testing::ValuesIn(kSplitCases));

}  // namespace
}  // namespace infold::train
