// Steps with shards on machines: they end, and where nothing is shared no kernel is slower than alone.
#include "model_help.h"
#include "support/live_memory.h"
#include "support/unshared_run.h"
#include "train/strategy/sharding.h"
#include "train/strategy/step_memory.h"
#include "train/strategy/strategies.h"

namespace infold::train {
namespace {

class ShardingRun : public testing::TestWithParam<SyncKind> {
 protected:
  ShardingRun() {
    Embedding words;
    words.rows = 128;
    words.width = 64;
    Branches block;
    block.body = {help::node(RmsNorm{}), help::node(help::linear(256)), help::node(help::linear(64))};
    Model m;
    m.input.tokens = 64;
    m.layers = {help::node(words), Node{Repeat{3, {Node{block, {}}}}, {}}, help::node(RmsNorm{}),
                help::node(help::linear(96, false)), help::node(Loss{})};
    sync_.kind = GetParam();
    sync_.shard = 2;
    sync_.bucket_elements = 20'000;
    plan_ = make_plan(help::graph(m), sharded({.batch = 2, .accumulate = 2}, sync_, layout_));
    graph_ = write_step({.plan = plan_, .layout = layout_, .sync = sync_}).graph;
  }

  const Layout layout_{.dp = 4};
  SyncSpec sync_;
  Plan plan_;
  work::Graph graph_;
};

TEST_P(ShardingRun, EndsAndNothingThatSharesNothingIsSlower) {
  const infold::help::UnsharedRun run(graph_);
  ASSERT_TRUE(run.done());
  for (work::OpId op = 0; op < static_cast<work::OpId>(plan_.ops.size()); ++op) {
    for (int rank = 0; rank < infold::help::UnsharedRun::kRanks; ++rank)
      EXPECT_LE(run.beside(rank, op), run.alone(op)) << op;
  }
}

TEST_P(ShardingRun, ActivationsAreNeverAboveWhatIsReported) {
  const infold::help::UnsharedRun run(graph_);
  ASSERT_TRUE(run.done());
  const StepRequest request{.plan = plan_, .layout = layout_, .sync = sync_};
  const MemoryNeed need = memory_need(request, write_step(request));
  for (int rank = 0; rank < infold::help::UnsharedRun::kRanks; ++rank) {
    const infold::help::LiveMemory live(run.runtime(), rank);
    EXPECT_GT(live.most(), 0);
    EXPECT_LE(live.most(), (need.passing + need.gathered).count());
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShardingRun,
                         testing::Values(SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp,
                                         SyncKind::kHsdp));

}  // namespace
}  // namespace infold::train
