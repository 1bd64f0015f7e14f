// Strategies: what is reduced together, what waits for what, and the proof that each gets the sums right.
#include "train/strategy/strategies.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "mutants.h"
#include "work/check.h"
#include "work/symbolic_step.h"

namespace infold::train {
namespace {

using namespace help;

constexpr std::array kKinds = {SyncKind::kDdp, SyncKind::kHorovod, SyncKind::kTensorflow,
                               SyncKind::kPerTensor};

/// A plan with one kernel in each direction a parameter, and an update. Gradients become ready in `order`, or
/// the last first.
Plan plan_of(const std::vector<std::int64_t>& elements, std::vector<int> order = {}) {
  Plan plan;
  plan.recipe.numbers = Numbers::kFp32;
  const auto tensor = [&](TensorSpec::Role role, std::int64_t rows) {
    plan.tensors.push_back({.role = role, .rows = rows, .cols = 1, .element_bytes = 4});
    return static_cast<TensorId>(plan.tensors.size()) - 1;
  };
  if (order.empty()) {
    order.resize(elements.size());
    std::iota(order.rbegin(), order.rend(), 0);
  }
  const TensorId x = tensor(TensorSpec::Role::kPassing, 64);
  const TensorId y = tensor(TensorSpec::Role::kPassing, 64);
  plan.parameter_elements = elements;
  for (const std::int64_t n : elements) plan.gradients.push_back(tensor(TensorSpec::Role::kGradient, n));
  const auto add = [&](Phase phase, std::vector<TensorId> reads, std::vector<TensorId> writes) {
    plan.ops.emplace_back();
    plan.ops.back().phase = phase;
    plan.ops.back().work = Computation{Streaming{{{std::move(reads), std::move(writes), 1}}}};
  };
  add(Phase::kForward, {x}, {y});
  for (const int p : order) {
    add(Phase::kBackward, {y}, {plan.gradients[static_cast<std::size_t>(p)]});
    plan.ready.push_back({p, static_cast<int>(plan.ops.size()) - 1});
  }
  add(Phase::kOptimizer, plan.gradients, {});
  return plan;
}
Plan mib(std::initializer_list<int> sizes) {
  std::vector<std::int64_t> elements;
  for (const int s : sizes) elements.push_back(std::int64_t{s} * 1024 * 1024 / 4);
  return plan_of(elements);
}

using Groups = std::vector<std::vector<int>>;
Groups groups(const work::Graph& g) {
  Groups out;
  for (const work::Operation& op : g.operations) {
    if (std::holds_alternative<work::Collective>(op.what)) out.push_back(op.gradients);
  }
  return out;
}
std::vector<work::OpId> collectives(const work::Graph& g) {
  std::vector<work::OpId> out;
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    if (std::holds_alternative<work::Collective>(g[op].what)) out.push_back(op);
  }
  return out;
}
/// How many gradients are complete before an operation of compute.
int gradients_before(const work::Graph& g, work::OpId op) {
  int count = 0;
  for (const work::OpId o : g.scripts[0].streams[0].ops) {
    if (o == op) return count;
    if (std::holds_alternative<work::Kernel>(g[o].what) && !g[o].updates)
      count += static_cast<int>(g[o].gradients.size());
  }
  ADD_FAILURE() << "not in the stream of compute";
  return -1;
}
bool copies(const work::Graph& g) {
  return std::ranges::any_of(g.operations,
                             [](const auto& o) { return std::holds_alternative<work::Copy>(o.what); });
}

TEST(Ddp, FillsTheFirstBucketWithOneAndOthersWithTwentyFiveMegabytes) {
  const Plan plan = mib({10, 20, 30, 5, 2, 1});
  const work::Graph g = write_step({.plan = plan, .layout = {.dp = 2}, .sync = {}}).graph;
  EXPECT_EQ(groups(g), (Groups{{5}, {4, 3, 2}, {1, 0}}));
  EXPECT_EQ(g.buffers[1].bytes, 37_MiB);
  std::vector<int> waits;
  for (const work::OpId c : collectives(g)) waits.push_back(gradients_before(g, g[c].after.at(0)));
  EXPECT_EQ(waits, (std::vector{1, 4, 6}));
  EXPECT_TRUE(copies(g));
}

TEST(Ddp, AsViewCopiesNothing) {
  const Plan plan = mib({30, 30, 30});
  SyncSpec spec;
  spec.gradient_as_view = true;
  EXPECT_FALSE(copies(write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec}).graph));
}

TEST(Ddp, ABucketWaitsForThoseBeforeIt) {
  const std::int64_t n = 30 * 1024 * 1024 / 4;
  const Plan plan = plan_of({n, n, n}, {0, 1, 2});
  const work::Graph g = write_step({.plan = plan, .layout = {.dp = 2}, .sync = {}}).graph;
  EXPECT_EQ(groups(g), (Groups{{2}, {1}, {0}}));
  for (const work::OpId c : collectives(g)) EXPECT_EQ(gradients_before(g, g[c].after.at(0)), 3);
}

TEST(Horovod, GathersAllGradientsInTheOrderInWhichTheyCome) {
  const Plan plan = mib({10, 20, 30});
  SyncSpec spec;
  spec.kind = SyncKind::kHorovod;
  for (const bool overlap : {true, false}) {
    const work::Graph g =
        write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec, .overlap = overlap}).graph;
    const auto& gather = std::get<work::Gather>(g[g.scripts[0].streams[3].ops.at(0)].what);
    ASSERT_EQ(gather.parts.size(), 3U);
    EXPECT_EQ(gather.parts[0].gradient, 2);
    EXPECT_EQ(gather.parts[0].bytes, 30_MiB);
    EXPECT_EQ(gradients_before(g, gather.parts[1].when), 2);
    EXPECT_EQ(gather.after_all, !overlap);
  }
}

TEST(Tensorflow, PacksEverythingIntoOneAfterTheLast) {
  const Plan plan = mib({10, 20, 30});
  SyncSpec spec;
  spec.kind = SyncKind::kTensorflow;
  EXPECT_EQ(groups(write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec}).graph), (Groups{{0, 1, 2}}));
  spec.packs = 2;
  EXPECT_EQ(groups(write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec}).graph),
            (Groups{{0, 1}, {2}}));
}

TEST(PerTensor, SendsEachAtOnce) {
  const Plan plan = mib({10, 20, 30});
  SyncSpec spec;
  spec.kind = SyncKind::kPerTensor;
  const work::Graph g = write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec}).graph;
  EXPECT_EQ(groups(g), (Groups{{2}, {1}, {0}}));
  EXPECT_EQ(gradients_before(g, g[collectives(g)[1]].after.at(0)), 2);
}

TEST(AnyStrategy, SequentiallyNothingIsReducedBeforeBackwardHasEnded) {
  const Plan plan = mib({30, 30, 30});
  for (const SyncKind kind : {SyncKind::kDdp, SyncKind::kTensorflow, SyncKind::kPerTensor}) {
    SyncSpec spec;
    spec.kind = kind;
    const StepGraph step = write_step({.plan = plan, .layout = {.dp = 2}, .sync = spec, .overlap = false});
    EXPECT_EQ(gradients_before(step.graph, step.backward_ended), 3);
    for (const work::OpId c : collectives(step.graph)) {
      work::OpId first = step.graph[c].after.at(0);
      while (first != step.backward_ended && !step.graph[first].after.empty())
        first = step.graph[first].after.at(0);
      EXPECT_EQ(first, step.backward_ended);
    }
  }
}

std::string flaw(const work::Graph& g, std::size_t parameters) {
  if (const auto ok = work::check(g); !ok) return ok.error().message;
  const auto ok = work::check_step(g, static_cast<int>(parameters));
  return ok ? "" : ok.error().message;
}

SyncSpec any_sync() {
  SyncSpec spec;
  spec.kind = *rc::gen::elementOf(std::vector(kKinds.begin(), kKinds.end()));
  spec.bucket = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.first_bucket = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.gradient_as_view = *rc::gen::arbitrary<bool>();
  spec.fusion = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.cycle = sim::Time::us(*rc::gen::inRange(1, 1000));
  spec.packs = *rc::gen::inRange(1, 5);
  return spec;
}

/// A plan of some parameters whose gradients become ready in any order.
Plan any_plan() {
  std::vector<std::int64_t> elements(static_cast<std::size_t>(*rc::gen::inRange(1, 12)));
  for (auto& n : elements) n = *rc::gen::inRange(1, 12'000);
  std::vector<int> order(elements.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(i)))]);
  return plan_of(elements, order);
}

RC_GTEST_PROP(AnyStrategy, UpdatesEveryParameterOnceFromEveryRanksGradient, ()) {
  const Plan plan = any_plan();
  const StepGraph step = write_step({.plan = plan,
                                     .layout = {.dp = *rc::gen::inRange(2, 5)},
                                     .sync = any_sync(),
                                     .overlap = *rc::gen::arbitrary<bool>()});
  RC_ASSERT(flaw(step.graph, plan.gradients.size()) == "");
  sim::Bytes bytes;
  for (const work::Buffer& b : step.graph.buffers) bytes += b.bytes;
  for (const work::Operation& op : step.graph.operations) {
    if (const auto* g = std::get_if<work::Gather>(&op.what)) {
      for (const auto& p : g->parts) bytes += p.bytes;
    }
  }
  sim::Bytes all;
  for (const sim::Bytes s : gradient_sizes(plan)) all += s;
  RC_ASSERT(bytes == all);
}

RC_GTEST_PROP(AnyStrategy, AMissingOrDoubledCommunicationIsCaught, ()) {
  const Plan plan = any_plan();
  const work::Graph g =
      write_step(
          {.plan = plan, .layout = {.dp = 3}, .sync = any_sync(), .overlap = *rc::gen::arbitrary<bool>()})
          .graph;
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    const bool copy = std::holds_alternative<work::Copy>(g[op].what);
    if (work::communicator_of(g[op]) < 0 && !copy) continue;
    RC_ASSERT(flaw(without(g, op), plan.gradients.size()) != "");
    if (!copy) RC_ASSERT(flaw(doubled(g, op), plan.gradients.size()) != "");
  }
}

RC_GTEST_PROP(AnyStrategy, AMissingWaitIsCaught, ()) {
  const Plan plan = any_plan();
  const work::Graph g = write_step({.plan = plan, .layout = {.dp = 2}, .sync = any_sync()}).graph;
  std::vector<work::OpId> before;
  for (work::OpId op = 0; op < static_cast<work::OpId>(g.operations.size()); ++op) {
    // Some wait for what their stream would do, too: a bucket for the same gradient as the one before it, and
    // copies out of buckets for the end of backward, as PyTorch does.
    if (g[op].after.size() != 1 || std::exchange(before, g[op].after) == g[op].after) continue;
    work::Graph broken = g;
    broken[op].after.clear();
    RC_ASSERT(flaw(broken, plan.gradients.size()) != "");
  }
}

}  // namespace
}  // namespace infold::train
