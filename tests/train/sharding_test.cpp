// Strategies that shard parameters: what is gathered and reduced when, and what it costs on the wire.
#include "train/strategy/sharding.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "sharding_help.h"

namespace infold::train {
namespace {

using namespace help;

TEST(Fsdp, GathersTheRootOnceAndEachBlockForForwardAndBackward) {
  const Step s = sharded_step(blocks(3), {.batch = 2}, spec_of(SyncKind::kFsdp), {.dp = 4});
  std::vector<std::string> names;
  for (const work::OpId op : collectives(s.step.graph, coll::Collective::kAllGather))
    names.push_back(s.step.graph[op].name);
  EXPECT_EQ(names, (std::vector<std::string>{"all-gather of the root", "all-gather of block 0",
                                             "all-gather of block 1", "all-gather of block 2",
                                             "all-gather of block 2", "all-gather of block 1",
                                             "all-gather of block 0"}));
  names.clear();
  for (const work::OpId op : collectives(s.step.graph, coll::Collective::kReduceScatter))
    names.push_back(s.step.graph[op].name);
  EXPECT_EQ(names, (std::vector<std::string>{"reduce-scatter of block 2", "reduce-scatter of block 1",
                                             "reduce-scatter of block 0", "reduce-scatter of the root"}));
}

/// Of each gathering, by number: how many of the copies into weights it waits for.
std::vector<int> copies_before_gatherings(const work::Graph& g) {
  std::map<work::OpId, int> number;
  for (const work::OpId op : g.scripts[0].streams[0].ops) {
    const auto* copy = std::get_if<work::Copy>(&g[op].what);
    if (copy != nullptr && copy->back) number.emplace(op, static_cast<int>(number.size()) + 1);
  }
  std::vector<int> waits;
  for (const work::OpId op : collectives(g, coll::Collective::kAllGather)) {
    const work::Operation& in = g[g[op].after.at(0)];
    waits.push_back(in.after.empty() ? 0 : number.at(in.after.at(0)));
  }
  return waits;
}

TEST(Fsdp, GathersTwoAheadInForwardAndOneInBackward) {
  SyncSpec spec = spec_of(SyncKind::kFsdp);
  EXPECT_EQ(copies_before_gatherings(sharded_step(blocks(3), {.batch = 2}, spec, {.dp = 4}).step.graph),
            (std::vector{0, 0, 1, 2, 4, 5, 6}));
  spec.forward_prefetch = 1;
  spec.backward_prefetch = 2;
  EXPECT_EQ(copies_before_gatherings(sharded_step(blocks(3), {.batch = 2}, spec, {.dp = 4}).step.graph),
            (std::vector{0, 1, 2, 3, 3, 4, 5}));
}

TEST(Fsdp, WithoutReshardingBlocksAreGatheredOnce) {
  SyncSpec spec = spec_of(SyncKind::kFsdp);
  spec.reshard = false;
  const Step s = sharded_step(blocks(3), {.batch = 2}, spec, {.dp = 4});
  EXPECT_EQ(collectives(s.step.graph, coll::Collective::kAllGather).size(), 4U);
}

/// Bytes that a rank must send, as nccl-tests counts them.
double bytes_on_the_wire(const work::Graph& g) {
  double sum = 0;
  for (const work::Operation& o : g.operations) {
    const auto* c = std::get_if<work::Collective>(&o.what);
    if (c == nullptr) continue;
    const auto members =
        static_cast<int>(g.communicators[static_cast<std::size_t>(c->communicator)].groups.front().size());
    sum += coll::bus_factor(c->what, members) *
           static_cast<double>(g.buffers[static_cast<std::size_t>(c->buffer)].bytes.count());
  }
  return sum;
}

TEST(Sharding, BytesOnTheWireAreThoseOfTheFormula) {
  const Graph g = blocks(3);
  const auto all = static_cast<double>(g.parameter_count());
  double root = 0;
  const Plan plan = make_plan(g, {.batch = 2});
  for (std::size_t p = 0; p < plan.parameter_unit.size(); ++p) {
    if (plan.parameter_unit[p] < 0) root += static_cast<double>(plan.parameter_elements[p]);
  }
  const auto wire = [&](SyncKind kind, Numbers numbers) {
    SyncSpec spec = spec_of(kind);
    return bytes_on_the_wire(sharded_step(g, {.batch = 2, .numbers = numbers}, spec, {.dp = 4}).step.graph);
  };
  const double padding = 3 * 4 * 8 * 4 * 8;  // at most: each bucket's
  const double others = 3.0 / 4;
  // ZeRO: every gradient is scattered, every weight gathered.
  for (const SyncKind kind : {SyncKind::kZero1, SyncKind::kZero2}) {
    EXPECT_NEAR(wire(kind, Numbers::kFp32), others * (4 + 4) * all, padding);
    EXPECT_NEAR(wire(kind, Numbers::kMixed), others * (4 + 2) * all, padding);
    EXPECT_NEAR(wire(kind, Numbers::kBf16), others * (2 + 2) * all, padding);
  }
  // FSDP: weights of blocks are gathered twice, those of the root once; gradients are scattered in fp32.
  EXPECT_NEAR(wire(SyncKind::kFsdp, Numbers::kMixed), others * (2 * (2 * all - root) + 4 * all), padding);
  // HSDP: the same in groups of two; the halves are all-reduced between the two groups.
  EXPECT_NEAR(wire(SyncKind::kHsdp, Numbers::kMixed),
              0.5 * (2 * (2 * all - root) + 4 * all) + 2 * 0.5 * 4 * all / 2, padding);
}

TEST(Sharding, TheOptimizerUpdatesAShard) {
  const Graph g = blocks(3);
  const auto state = [&](SyncKind kind) {
    const Plan plan = make_plan(g, sharded({.optimizer = Optimizer::kAdam}, spec_of(kind), {.dp = 4}));
    std::int64_t bytes = 0;
    for (const TensorSpec& t : plan.tensors) {
      if (t.role == TensorSpec::Role::kOptimizer) bytes += t.bytes();
    }
    return static_cast<double>(bytes);
  };
  for (const SyncKind kind : {SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp})
    EXPECT_NEAR(state(kind), state(SyncKind::kDdp) / 4, 1'000);
  EXPECT_NEAR(state(SyncKind::kHsdp), state(SyncKind::kDdp) / 2, 1'000);
}

TEST(Sharding, RefusesShardsThatDoNotComeOut) {
  SyncSpec spec = spec_of(SyncKind::kHsdp);
  spec.shard = 3;
  EXPECT_FALSE(check_sync(spec, {.dp = 4}));
  EXPECT_TRUE(check_sync(spec, {.dp = 6}));
  spec.kind = SyncKind::kHorovod;
  EXPECT_FALSE(check_sync(spec, {.dp = 2, .tp = 2}));
}

}  // namespace
}  // namespace infold::train
