// A model as kernels: which there are, what they touch, and in which order gradients come.
#include "train/plan.h"

#include <algorithm>
#include <set>

#include "model_help.h"
#include "train/memory_need.h"
#include "train/planner/fusion.h"

namespace infold::train {
namespace {

using namespace help;

/// A stem and a residual block with everything that can be fused.
Graph small_resnet() {
  Branches block;
  block.body = {node(conv(16)), node(BatchNorm{})};
  return graph(
      image_model({node(conv(16)), node(BatchNorm{}), node(Activation{}), Node{block, {}}, node(Activation{}),
                   node(find_layer("mean-pool")->layer), node(linear(10)), node(Loss{})}));
}

/// Eight tokens, and the words that they are looked up in: a hundred, 16 wide.
Model of_words() {
  Model m;
  m.input.tokens = 8;
  return m;
}
Node words() {
  Embedding e;
  e.rows = 100;
  e.width = 16;
  return node(e);
}

template <class Work>
int count(const Plan& plan, Phase phase) {
  return static_cast<int>(std::count_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) {
    return op.phase == phase && std::holds_alternative<Work>(*op.kernel());
  }));
}

std::int64_t traffic(const Plan& plan, Phase phase) {
  std::int64_t bytes = 0;
  for (const Op& op : plan.ops) {
    if (op.phase != phase) continue;
    for (const TensorId t : reads_of(op)) bytes += plan.tensors[static_cast<std::size_t>(t)].bytes();
    for (const TensorId t : writes_of(op)) bytes += plan.tensors[static_cast<std::size_t>(t)].bytes();
  }
  return bytes;
}

TEST(Fusion, PutsNormalisationAdditionAndActivationTogether) {
  const Graph g = small_resnet();
  EXPECT_EQ(fuse(g, Fusion::kEager).size(), g.operations.size());
  const auto groups = fuse(g, Fusion::kFused);
  // conv | norm relu | conv | norm add relu | pool | linear | loss
  ASSERT_EQ(groups.size(), 7U);
  EXPECT_EQ(groups[1].size(), 2U);
  EXPECT_EQ(groups[3].size(), 3U);
}

TEST(Fusion, KeepsWhatSomebodyElseNeeds) {
  Branches block;
  block.body = {node(linear(8)), node(Activation{})};
  const Graph g = graph(vector_model(8, {node(linear(8)), node(Activation{}), node(Dropout{}),
                                         Node{block, {}}, node(linear(2)), node(Loss{})}));
  for (const auto& group : fuse(g, Fusion::kFused)) {
    for (std::size_t i = 0; i + 1 < group.size(); ++i) {
      const ValueId between = g.operations[static_cast<std::size_t>(group[i])].output;
      int readers = 0;
      for (const Operation& op : g.operations)
        readers += static_cast<int>(std::count(op.inputs.begin(), op.inputs.end(), between));
      EXPECT_EQ(readers, 1);
    }
  }
}

TEST(Plan, TheFirstLayerNeedsNoGradientOfItsInput) {
  const Plan plan = make_plan(small_resnet(), {.batch = 4});
  EXPECT_EQ(count<Convolve>(plan, Phase::kForward), 2);
  EXPECT_EQ(count<Convolve>(plan, Phase::kBackward), 3);
  EXPECT_EQ(count<MatMul>(plan, Phase::kForward), 1);
  EXPECT_EQ(count<MatMul>(plan, Phase::kBackward), 2);
}

TEST(Plan, BatchNormReadsTwiceForwardAndFourTimesBackward) {
  const Graph g = graph(image_model({node(conv(16)), node(BatchNorm{}), node(find_layer("mean-pool")->layer),
                                     node(linear(10)), node(Loss{})}));
  const Recipe recipe{.batch = 4};
  const Plan with = make_plan(g, recipe);
  std::int64_t forward = 0;
  std::int64_t backward = 0;
  const std::int64_t tensor = 4 * 32 * 32 * 16 * 2;
  for (const Op& op : with.ops) {
    if (op.operation != 1) continue;
    std::int64_t& sum = op.phase == Phase::kForward ? forward : backward;
    for (const TensorId t : reads_of(op)) sum += with.tensors[static_cast<std::size_t>(t)].bytes();
    for (const TensorId t : writes_of(op)) sum += with.tensors[static_cast<std::size_t>(t)].bytes();
  }
  EXPECT_EQ(forward, 3 * tensor);
  EXPECT_EQ(backward, 5 * tensor);
}

TEST(Plan, FusingSavesTrafficAndKernels) {
  const Graph g = small_resnet();
  const Plan eager = make_plan(g, {.batch = 4});
  const Plan fused = make_plan(g, {.batch = 4, .fusion = Fusion::kFused});
  EXPECT_LT(fused.ops.size(), eager.ops.size());
  for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kOptimizer})
    EXPECT_LT(traffic(fused, phase), traffic(eager, phase));
}

TEST(Plan, EveryParameterIsReadyOnceLastLayerFirst) {
  const Graph g = small_resnet();
  for (const Fusion fusion : {Fusion::kEager, Fusion::kFused}) {
    const Plan plan = make_plan(g, {.batch = 4, .fusion = fusion});
    ASSERT_EQ(plan.ready.size(), g.parameters.size());
    std::set<ParameterId> seen;
    int before = 0;
    for (const GradientReady& r : plan.ready) {
      EXPECT_TRUE(seen.insert(r.parameter).second);
      EXPECT_LE(before, r.op);
      EXPECT_EQ(plan.ops[static_cast<std::size_t>(r.op)].phase, Phase::kBackward);
      before = r.op;
    }
    EXPECT_EQ(plan.ready.front().parameter, static_cast<int>(g.parameters.size()) - 2);  // of the last matrix
    EXPECT_EQ(plan.ready.back().parameter, 0);
  }
}

TEST(Plan, ATiedMatrixIsReadyWhenTheEmbeddingHasAddedItsPart) {
  Model m = of_words();
  Linear head = linear(100, false);
  head.tied = true;
  m.layers = {words(), node(linear(16)), node(head), node(Loss{})};
  const Graph g = graph(m);
  EXPECT_EQ(g.parameter_count(), 1600 + 16 * 16 + 16);
  const Plan plan = make_plan(g, {.batch = 2});
  ASSERT_EQ(plan.ready.size(), 3U);
  EXPECT_EQ(plan.ready.back().parameter, 0);
  EXPECT_EQ(plan.ops[static_cast<std::size_t>(plan.ready.back().op)].operation, 0);
}

TEST(Plan, ReadsNothingThatNobodyWroteExceptInputsAndWeights) {
  const Graph g = small_resnet();
  for (const Fusion fusion : {Fusion::kEager, Fusion::kFused}) {
    const Plan plan = make_plan(g, {.batch = 4, .fusion = fusion});
    std::set<TensorId> written;
    int unwritten = 0;
    for (const Op& op : plan.ops) {
      for (const TensorId t : reads_of(op)) {
        if (written.count(t) == 0 &&
            plan.tensors[static_cast<std::size_t>(t)].role == TensorSpec::Role::kPassing &&
            written.insert(t).second)
          ++unwritten;
      }
      for (const TensorId t : writes_of(op)) written.insert(t);
    }
    // The image; when fused also the three matrices' 16-bit copies, which the last step's optimizer left.
    EXPECT_EQ(unwritten, fusion == Fusion::kEager ? 1 : 4);
  }
}

TEST(Plan, ProductsFitTogether) {
  Model m = of_words();
  Attention separate;
  separate.heads = 2;
  Attention joined = separate;
  joined.joined = true;
  Attention cross = separate;
  cross.cross = true;
  m.layers = {words(), node(separate), node(joined),    node(Memory{}),
              words(), node(cross),    node(linear(3)), node(Loss{})};
  const Graph g = graph(m);
  const Plan plan = make_plan(g, {.batch = 2});
  EXPECT_EQ(plan.ready.size(), g.parameters.size());
  const auto spec = [&](TensorId t) { return plan.tensors[static_cast<std::size_t>(t)]; };
  int products = 0;
  for (const Op& op : plan.ops) {
    const auto* p = std::get_if<MatMul>(op.kernel());
    if (p == nullptr) continue;
    ++products;
    const auto [lo, lk] = p->left_by_k ? std::pair(spec(p->left).cols, spec(p->left).rows)
                                       : std::pair(spec(p->left).rows, spec(p->left).cols);
    const auto [ro, rk] = p->right_by_k ? std::pair(spec(p->right).cols, spec(p->right).rows)
                                        : std::pair(spec(p->right).rows, spec(p->right).cols);
    EXPECT_EQ(lk, rk);
    EXPECT_EQ(spec(p->out).rows, lo);
    EXPECT_EQ(spec(p->out).cols, ro);
  }
  EXPECT_EQ(products, (4 + 2 + 4 + 1) * 3);
}

TEST(MemoryNeed, CountsWeightsGradientsAndState) {
  const Graph g = small_resnet();
  const std::int64_t n = g.parameter_count();
  const auto state = [&](const Recipe& r) { return memory_need(make_plan(g, r)).optimizer.count(); };
  const MemoryNeed need = memory_need(make_plan(g, {.batch = 4}));
  EXPECT_EQ(need.weights.count(), 4 * n);
  EXPECT_EQ(need.gradients.count(), 4 * n);
  // The optimizer's state comes in rows of 64.
  const std::int64_t rounded = (n + 63) / 64 * 64;
  EXPECT_EQ(state({.batch = 4}), 4 * rounded);
  EXPECT_EQ(state({.batch = 4, .optimizer = Optimizer::kAdam}), 8 * rounded);
  EXPECT_EQ(state({.batch = 4, .numbers = Numbers::kBf16, .optimizer = Optimizer::kAdam}), 12 * rounded);
}

TEST(MemoryNeed, ActivationsGrowWithTheBatchAndNothingElseDoes) {
  const Graph g = small_resnet();
  const MemoryNeed one = memory_need(make_plan(g, {.batch = 64}));
  const MemoryNeed two = memory_need(make_plan(g, {.batch = 128}));
  EXPECT_EQ(one.weights, two.weights);
  EXPECT_EQ(one.gradients, two.gradients);
  EXPECT_NEAR(static_cast<double>(two.passing.count()) / static_cast<double>(one.passing.count()), 2.0, 0.01);
}

}  // namespace
}  // namespace infold::train
