// Strategies that shard parameters: what is gathered and reduced when, what it costs on the wire, and what
// limits how much is gathered at once.
#include "train/strategy/sharding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model_help.h"
#include "mutants.h"
#include "train/strategy/step_memory.h"
#include "train/strategy/step_rules.h"
#include "train/strategy/step_writer.h"
#include "train/strategy/strategies.h"
#include "work/check.h"
#include "work/happens_before.h"

namespace infold::train {
namespace {

using namespace help;

/// Tokens through blocks of a norm and two products, and a last projection.
Graph blocks(int count) {
  Embedding words;
  words.rows = 100;
  words.width = 64;
  Branches block;
  block.body = {node(RmsNorm{}), node(linear(256)), node(linear(64))};
  Model m;
  m.input.tokens = 16;
  m.layers = {node(words), Node{Repeat{count, {Node{block, {}}}}, {}}, node(RmsNorm{}),
              node(linear(96, false)), node(Loss{})};
  return graph(m);
}

SyncSpec spec_of(SyncKind kind) {
  SyncSpec spec;
  spec.kind = kind;
  spec.bucket_elements = 20'000;
  spec.shard = 2;
  return spec;
}

struct Step {
  Plan plan;
  StepGraph step;
};
Step step_of(const Graph& graph, Recipe recipe, const SyncSpec& sync, const Layout& layout,
             bool overlap = true, int passes = 1) {
  Step s{make_plan(graph, sharded(recipe, sync, layout)), {}};
  s.step = write_step({.plan = s.plan, .layout = layout, .sync = sync, .overlap = overlap, .passes = passes});
  return s;
}

constexpr std::array kSharding = {SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp, SyncKind::kHsdp};

StepRequest request_of(const Step& s, const SyncSpec& sync, const Layout& layout, int passes = 1) {
  return {.plan = s.plan, .layout = layout, .sync = sync, .passes = passes};
}
std::string flaw(const work::Graph& g, const work::StepRules& rules) {
  if (const auto ok = work::check(g); !ok) return ok.error().message;
  const auto ok = work::check_step(g, rules);
  return ok ? "" : ok.error().message;
}

std::vector<Recipe> recipes() {
  std::vector<Recipe> all;
  for (const Numbers numbers : {Numbers::kFp32, Numbers::kMixed, Numbers::kBf16}) {
    for (const Fusion fusion : {Fusion::kEager, Fusion::kFused}) {
      for (const Recompute recompute : {Recompute::kNone, Recompute::kFull}) {
        all.push_back({.batch = 2,
                       .numbers = numbers,
                       .fusion = fusion,
                       .optimizer = Optimizer::kAdam,
                       .recompute = recompute});
      }
    }
  }
  return all;
}

TEST(Sharding, EveryShardIsUpdatedOnceFromAllRanksAndPasses) {
  const Graph g = blocks(3);
  for (const SyncKind kind : kSharding) {
    for (Recipe recipe : recipes()) {
      for (const bool overlap : {true, false}) {
        for (const int passes : {1, 3}) {
          recipe.accumulate = passes;
          const Step s = step_of(g, recipe, spec_of(kind), {.dp = 4}, overlap, passes);
          EXPECT_EQ(flaw(s.step.graph, rules_of(request_of(s, spec_of(kind), {.dp = 4}, passes))), "")
              << sim::name_of(kind) << " passes " << passes << " overlap " << overlap;
        }
      }
    }
  }
}

TEST(Sharding, IsRightInAnyDirectionOfTheSpec) {
  const Graph g = blocks(4);
  for (const SyncKind kind : {SyncKind::kFsdp, SyncKind::kHsdp}) {
    for (const int ahead : {0, 1, 2, 9}) {
      for (const bool reshard : {true, false}) {
        for (const ReduceType type : {ReduceType::kFp32, ReduceType::kProducts}) {
          for (const int shard : {1, 2, 4}) {
            SyncSpec spec = spec_of(kind);
            spec.forward_prefetch = spec.backward_prefetch = ahead;
            spec.reshard = reshard;
            spec.reduce_dtype = type;
            spec.shard = shard;
            const Step s = step_of(g, {.batch = 2}, spec, {.dp = 4});
            EXPECT_EQ(flaw(s.step.graph, rules_of(request_of(s, spec, {.dp = 4}))), "")
                << sim::name_of(kind) << " " << ahead << " " << reshard << " " << shard;
          }
        }
      }
    }
  }
}

TEST(Sharding, GroupsAreThoseOfReplicas) {
  const Graph g = blocks(2);
  for (const SyncKind kind : {SyncKind::kDdp, SyncKind::kZero1, SyncKind::kFsdp, SyncKind::kHsdp}) {
    const Layout layout{.dp = 4, .tp = 2};
    const Step s = step_of(g, {.batch = 2}, spec_of(kind), layout);
    EXPECT_EQ(flaw(s.step.graph, rules_of(request_of(s, spec_of(kind), layout))), "") << sim::name_of(kind);
    for (const work::Communicator& c : s.step.graph.communicators) {
      for (const auto& group : c.groups) {
        for (const int r : group) EXPECT_EQ(r % 2, group.front() % 2);
      }
    }
  }
}

TEST(Sharding, ExpertsHaveGroupsOfTheirOwn) {
  const Graph g = blocks(2);
  for (const SyncKind kind : {SyncKind::kDdp, SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp}) {
    const Layout layout{.dp = 4, .ep = 2};
    Plan plan = make_plan(g, sharded({.batch = 2}, spec_of(kind), layout));
    for (std::size_t p = 0; p < plan.parameter_axis.size(); p += 3)
      plan.parameter_axis[p] = Axis::kExpertReplica;
    const StepRequest request{.plan = plan, .layout = layout, .sync = spec_of(kind)};
    EXPECT_EQ(flaw(write_step(request).graph, rules_of(request)), "") << sim::name_of(kind);
  }
}

TEST(Sharding, AMissingOrDoubledCommunicationIsCaught) {
  const Graph g = blocks(3);
  int mutants = 0;
  for (const SyncKind kind : kSharding) {
    for (const bool overlap : {true, false}) {
      for (const int passes : {1, 2}) {
        SyncSpec spec = spec_of(kind);
        spec.reduce_dtype = overlap ? ReduceType::kFp32 : ReduceType::kProducts;
        const Step s = step_of(g, {.batch = 2, .accumulate = passes}, spec, {.dp = 4}, overlap, passes);
        const work::StepRules rules = rules_of(request_of(s, spec, {.dp = 4}, passes));
        const work::Graph& graph = s.step.graph;
        for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
          const bool copy = std::holds_alternative<work::Copy>(graph[op].what);
          if (work::communicator_of(graph[op]) < 0 && !copy) continue;
          ++mutants;
          EXPECT_NE(flaw(without(graph, op), rules), "") << sim::name_of(kind) << ": no " << label(graph, op);
          if (copy) continue;
          EXPECT_NE(flaw(doubled(graph, op), rules), "")
              << sim::name_of(kind) << ": twice " << label(graph, op);
        }
      }
    }
  }
  EXPECT_GT(mutants, 200);
}

TEST(Sharding, AMissingWaitForWeightsOrGradientsIsCaught) {
  const Graph g = blocks(3);
  for (const SyncKind kind : kSharding) {
    const Step s = step_of(g, {.batch = 2}, spec_of(kind), {.dp = 4});
    const work::StepRules rules = rules_of(request_of(s, spec_of(kind), {.dp = 4}));
    const work::Graph& graph = s.step.graph;
    std::vector<work::OpId> before;
    for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
      const bool back =
          std::holds_alternative<work::Copy>(graph[op].what) && std::get<work::Copy>(graph[op].what).back;
      if (work::communicator_of(graph[op]) < 0 && !back) continue;
      // What waits for the same as the one before it in its stream need not.
      if (std::exchange(before, graph[op].after) == graph[op].after) continue;
      work::Graph broken = graph;
      broken[op].after.clear();
      EXPECT_NE(flaw(broken, rules), "") << sim::name_of(kind) << ": " << label(graph, op);
    }
  }
}

std::vector<work::OpId> collectives(const work::Graph& g, coll::Collective what) {
  std::vector<work::OpId> out;
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    const auto* c = std::get_if<work::Collective>(&g[op].what);
    if (c != nullptr && c->what == what) out.push_back(op);
  }
  return out;
}

TEST(Fsdp, GathersTheRootOnceAndEachBlockForForwardAndBackward) {
  const Step s = step_of(blocks(3), {.batch = 2}, spec_of(SyncKind::kFsdp), {.dp = 4});
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
  EXPECT_EQ(copies_before_gatherings(step_of(blocks(3), {.batch = 2}, spec, {.dp = 4}).step.graph),
            (std::vector{0, 0, 1, 2, 4, 5, 6}));
  spec.forward_prefetch = 1;
  spec.backward_prefetch = 2;
  EXPECT_EQ(copies_before_gatherings(step_of(blocks(3), {.batch = 2}, spec, {.dp = 4}).step.graph),
            (std::vector{0, 1, 2, 3, 3, 4, 5}));
}

TEST(Fsdp, WithoutReshardingBlocksAreGatheredOnce) {
  SyncSpec spec = spec_of(SyncKind::kFsdp);
  spec.reshard = false;
  const Step s = step_of(blocks(3), {.batch = 2}, spec, {.dp = 4});
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
    return bytes_on_the_wire(step_of(g, {.batch = 2, .numbers = numbers}, spec, {.dp = 4}).step.graph);
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

/// Two tensor-parallel ranks for each of two replicas.
TEST(Sharding, WorksBesideTensorParallelism) {
  const Layout layout{.dp = 2, .tp = 2};
  for (const bool rows : {true, false}) {
    for (const SyncKind kind : {SyncKind::kDdp, SyncKind::kZero1, SyncKind::kZero2, SyncKind::kFsdp}) {
      const auto plan =
          make_plan(blocks(2), sharded({.batch = 2}, spec_of(kind), layout), split_of(layout, rows));
      ASSERT_TRUE(plan) << plan.error().message;
      const StepRequest request{.plan = *plan, .layout = layout, .sync = spec_of(kind)};
      const work::Graph g = write_step(request).graph;
      const work::StepRules rules = rules_of(request);
      EXPECT_EQ(flaw(g, rules), "") << sim::name_of(kind);
      int missed = 0;
      int mutants = 0;
      for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
        if (work::communicator_of(g[op]) < 0) continue;
        mutants += 2;
        missed += flaw(without(g, op), rules).empty() ? 1 : 0;
        missed += flaw(doubled(g, op), rules).empty() ? 1 : 0;
      }
      EXPECT_EQ(missed, 0) << sim::name_of(kind) << " of " << mutants;
    }
  }
}

/// What may be there at once while an operation of compute runs, by what comes before what.
class AliveBeside {
 public:
  AliveBeside(const Plan& plan, const work::Graph& graph)
      : plan_(plan),
        g_(graph),
        compute_(graph.scripts[0].streams[0].ops),
        order_(work::order_of(graph).value()),
        before_(graph, order_) {
    add_gatherings();
    add_reductions();
    add_tensors();
  }

  std::int64_t most() const {
    std::int64_t most = 0;
    for (const work::OpId now : compute_) {
      std::int64_t sum = 0;
      for (const Item& i : items_) {
        if (!precedes(now, i.first) && !precedes(i.last, now)) sum += i.bytes;
      }
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  struct Item {
    work::OpId first;
    work::OpId last;
    std::int64_t bytes;
  };

  bool precedes(work::OpId a, work::OpId b) const {
    return before_(before_.node({0, a}), before_.node({0, b}));
  }
  std::int64_t bytes(work::BufferId b) const { return g_.buffers[static_cast<std::size_t>(b)].bytes.count(); }
  bool waits(work::OpId op, work::OpId for_this) const {
    return std::ranges::find(g_[op].after, for_this) != g_[op].after.end();
  }

  /// Buffers from the copy in to the copy out; weights from there until they are freed.
  void add_gatherings() {
    for (const work::OpId all : collectives(g_, coll::Collective::kAllGather)) {
      const auto& c = std::get<work::Collective>(g_[all].what);
      if (c.source < 0) continue;
      const auto out = std::ranges::find_if(compute_, [&](work::OpId o) { return waits(o, all); });
      auto freed = out;
      const int p = g_[all].weights.front();
      while (std::ranges::find(g_[*freed].frees, p) == g_[*freed].frees.end()) ++freed;
      items_.push_back({g_[all].after.at(0), *out, bytes(c.buffer)});
      const auto& copy = std::get<work::Copy>(g_[*out].what);
      items_.push_back({*out, *freed, g_.tensors[static_cast<std::size_t>(copy.tensor)].bytes()});
    }
  }

  /// Buffers, and what comes out where it is copied to what is kept.
  void add_reductions() {
    for (const work::OpId reduced : collectives(g_, coll::Collective::kReduceScatter)) {
      const auto& c = std::get<work::Collective>(g_[reduced].what);
      if (c.source < 0) continue;
      const work::OpId in = g_[reduced].after.at(0);
      items_.push_back({in, reduced, bytes(c.buffer)});
      for (const work::OpId o : g_.scripts[0].streams[StepWriter::kCopies].ops) {
        if (waits(o, reduced)) items_.push_back({in, o, bytes(c.buffer) / g_.ranks()});
      }
    }
  }

  /// Activations, and gradients until they have been copied or reduced.
  void add_tensors() {
    std::vector<work::OpId> first(plan_.tensors.size(), -1);
    std::vector<work::OpId> last(plan_.tensors.size(), -1);
    for (int op = 0; op < static_cast<int>(plan_.ops.size()); ++op) {
      const Op& o = plan_.ops[static_cast<std::size_t>(op)];
      for (const auto& ids : {reads_of(o), writes_of(o)}) {
        for (const TensorId t : ids) {
          if (first[static_cast<std::size_t>(t)] < 0) first[static_cast<std::size_t>(t)] = op;
          last[static_cast<std::size_t>(t)] = op;
        }
      }
    }
    for (const GradientReady& r : plan_.ready) {
      const auto t = static_cast<std::size_t>(plan_.gradients[static_cast<std::size_t>(r.parameter)]);
      if (first[t] < 0) first[t] = r.op;
      for (work::OpId op = 0; op < static_cast<work::OpId>(g_.operations.size()); ++op) {
        const work::Operation& o = g_[op];
        if (std::ranges::find(o.gradients, r.parameter) == o.gradients.end()) continue;
        const auto* copy = std::get_if<work::Copy>(&o.what);
        const auto* c = std::get_if<work::Collective>(&o.what);
        if ((copy != nullptr && !copy->back) || (c != nullptr && c->source < 0)) last[t] = op;
      }
    }
    for (std::size_t t = 0; t < plan_.tensors.size(); ++t) {
      const TensorSpec::Role role = plan_.tensors[t].role;
      if (first[t] >= 0 && (role == TensorSpec::Role::kPassing || role == TensorSpec::Role::kGradient))
        items_.push_back({first[t], last[t], plan_.tensors[t].bytes()});
    }
  }

  const Plan& plan_;
  const work::Graph& g_;
  const std::vector<work::OpId>& compute_;
  std::vector<work::Turn> order_;
  work::HappensBefore before_;
  std::vector<Item> items_;
};

TEST(StepMemory, IsWhatMayBeThereAtOnce) {
  const Graph g = blocks(4);
  for (const SyncKind kind : {SyncKind::kZero2, SyncKind::kFsdp}) {
    for (const Recipe& recipe : recipes()) {
      for (const bool overlap : {true, false}) {
        for (const int ahead : {1, 2}) {
          SyncSpec spec = spec_of(kind);
          spec.forward_prefetch = spec.backward_prefetch = ahead;
          const Step s = step_of(g, recipe, spec, {.dp = 2}, overlap);
          const MemoryNeed need = memory_need(request_of(s, spec, {.dp = 2}), s.step);
          EXPECT_EQ((need.passing + need.gathered).count(), AliveBeside(s.plan, s.step.graph).most())
              << sim::name_of(kind) << " " << overlap << " " << ahead;
        }
      }
    }
  }
}

TEST(StepMemory, KeepsShardsOfWhatTheStrategyShards) {
  const Graph g = blocks(4);
  const auto n = static_cast<double>(g.parameter_count());
  const auto need = [&](SyncKind kind) {
    const Step s = step_of(g, {.batch = 2, .optimizer = Optimizer::kAdam}, spec_of(kind), {.dp = 4});
    return memory_need(request_of(s, spec_of(kind), {.dp = 4}), s.step);
  };
  const auto kept = [&](SyncKind kind) {
    const MemoryNeed m = need(kind);
    return static_cast<double>((m.weights + m.gradients + m.optimizer).count()) / n;
  };
  // Mixed precision: weights and gradients in fp32, two moments; ZeRO has whole weights in 16 bits.
  EXPECT_NEAR(kept(SyncKind::kDdp), 4 + 4 + 8, 0.05);
  EXPECT_NEAR(kept(SyncKind::kZero1), 2 + 4 + (4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kZero2), 2 + (4 + 4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kFsdp), (4 + 4 + 8) / 4.0, 0.05);
  EXPECT_NEAR(kept(SyncKind::kHsdp), (4 + 4 + 8) / 2.0, 0.05);
  EXPECT_GT(need(SyncKind::kFsdp).gathered, sim::Bytes{});
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
