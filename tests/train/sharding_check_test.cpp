// The rules of sharded steps: a right graph keeps them, and one that lacks or doubles an operation, or does
// not wait, is caught.
#include <utility>
#include <vector>

#include "mutants.h"
#include "sharding_help.h"

namespace infold::train {
namespace {

using namespace help;

TEST(Sharding, EveryShardIsUpdatedOnceFromAllRanksAndPasses) {
  const Graph g = blocks(3);
  for (const SyncKind kind : kSharding) {
    for (Recipe recipe : recipes()) {
      for (const bool overlap : {true, false}) {
        for (const int passes : {1, 3}) {
          recipe.accumulate = passes;
          const Step s = sharded_step(g, recipe, spec_of(kind), {.dp = 4}, overlap, passes);
          EXPECT_EQ(step_flaw(s.step.graph, rules_of(request_of(s, spec_of(kind), {.dp = 4}, passes))), "")
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
            const Step s = sharded_step(g, {.batch = 2}, spec, {.dp = 4});
            EXPECT_EQ(step_flaw(s.step.graph, rules_of(request_of(s, spec, {.dp = 4}))), "")
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
    const Step s = sharded_step(g, {.batch = 2}, spec_of(kind), layout);
    EXPECT_EQ(step_flaw(s.step.graph, rules_of(request_of(s, spec_of(kind), layout))), "")
        << sim::name_of(kind);
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
    EXPECT_EQ(step_flaw(write_step(request).graph, rules_of(request)), "") << sim::name_of(kind);
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
        const Step s = sharded_step(g, {.batch = 2, .accumulate = passes}, spec, {.dp = 4}, overlap, passes);
        const work::StepRules rules = rules_of(request_of(s, spec, {.dp = 4}, passes));
        const work::Graph& graph = s.step.graph;
        for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
          const bool copy = std::holds_alternative<work::Copy>(graph[op].what);
          if (work::communicator_of(graph[op]) < 0 && !copy) continue;
          ++mutants;
          EXPECT_NE(step_flaw(without(graph, op), rules), "")
              << sim::name_of(kind) << ": no " << label(graph, op);
          if (copy) continue;
          EXPECT_NE(step_flaw(doubled(graph, op), rules), "")
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
    const Step s = sharded_step(g, {.batch = 2}, spec_of(kind), {.dp = 4});
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
      EXPECT_NE(step_flaw(broken, rules), "") << sim::name_of(kind) << ": " << label(graph, op);
    }
  }
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
      EXPECT_EQ(step_flaw(g, rules), "") << sim::name_of(kind);
      int missed = 0;
      int mutants = 0;
      for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
        if (work::communicator_of(g[op]) < 0) continue;
        mutants += 2;
        missed += step_flaw(without(g, op), rules).empty() ? 1 : 0;
        missed += step_flaw(doubled(g, op), rules).empty() ? 1 : 0;
      }
      EXPECT_EQ(missed, 0) << sim::name_of(kind) << " of " << mutants;
    }
  }
}

}  // namespace
}  // namespace infold::train
