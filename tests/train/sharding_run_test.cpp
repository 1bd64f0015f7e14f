// Steps with shards on machines: they end, and where nothing is shared no kernel is slower than alone.
#include <deque>

#include "coll/algo/algorithms.h"
#include "model_help.h"
#include "train/strategy/sharding.h"
#include "train/strategy/strategies.h"
#include "work/check.h"
#include "work/runtime.h"

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
    spec_.gpus = 4;
    spec_.gpu.sms = 16;
  }

  work::Programs programs(const net::Blueprint& fabric) {
    return [this, &fabric](const work::Operation& op, sim::Bytes bytes,
                           const std::vector<int>& members) -> const coll::Program& {
      coll::Tuning tuning;
      tuning.channels = 2;
      tuning.threads = 32;
      tuning.min_bytes_per_thread = sim::Bytes{1};
      programs_.push_back(coll::write_ring({.collective = std::get<work::Collective>(op.what).what,
                                            .bytes = bytes,
                                            .gpus = members,
                                            .fabric = &fabric,
                                            .tuning = tuning}));
      return programs_.back();
    };
  }

  const Layout layout_{.dp = 4};
  SyncSpec sync_;
  gpu::MachineSpec spec_;
  Plan plan_;
  work::Graph graph_;
  std::deque<coll::Program> programs_;
};

TEST_P(ShardingRun, EndsAndNothingThatSharesNothingIsSlower) {
  const sim::Status checked = work::check(graph_);
  ASSERT_TRUE(checked) << checked.error().message;
  gpu::MachineOptions options;
  options.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = false};
  gpu::Machine machine(gpu::MachinePlan::make(spec_).value(), options);
  work::Runtime runtime(graph_, machine, {.programs = programs(machine.blueprint())});
  runtime.start();
  machine.events().run();
  for (const std::string& line : runtime.who_waits()) ADD_FAILURE() << line;
  ASSERT_TRUE(runtime.done());
  EXPECT_TRUE(machine.quiet());

  sim::EventQueue events;
  gpu::Core core(spec_.gpu, events, {});
  work::Runtime alone(work::without_communication(graph_), core, {.programs = programs(machine.blueprint())});
  alone.start();
  events.run();
  ASSERT_TRUE(alone.done());
  for (work::OpId op = 0; op < static_cast<work::OpId>(plan_.ops.size()); ++op) {
    const auto took = [&](const work::Runtime& r, int rank) {
      return r.times(rank, op).end - r.times(rank, op).start;
    };
    for (int rank = 0; rank < 4; ++rank) EXPECT_LE(took(runtime, rank), took(alone, 0)) << op;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ShardingRun,
                         testing::Values(SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp,
                                         SyncKind::kHsdp));

}  // namespace
}  // namespace infold::train
