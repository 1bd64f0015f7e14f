// Layers of transformers as kernels: shared heads, latent attention, routed experts, 8-bit operands and
// recomputation.
#include <algorithm>
#include <set>

#include "model_help.h"
#include "train/memory_need.h"
#include "train/plan.h"
#include "train/planner/fusion.h"
#include "train/recipe_check.h"

namespace infold::train {
namespace {

using namespace help;

/// Tokens of 64 features through some layers, twice, and a last projection.
Graph twice(Nodes layers, int tokens = 32) {
  Embedding words;
  words.rows = 100;
  words.width = 64;
  Branches block;
  block.body = std::move(layers);
  block.body.insert(block.body.begin(), node(RmsNorm{}));
  Model m;
  m.input.tokens = tokens;
  m.layers = {node(words), Node{Repeat{2, {Node{block, {}}}}, {}}, node(RmsNorm{}), node(linear(96, false)),
              node(Loss{})};
  return graph(m);
}
Attention shared_heads() {
  Attention a;
  a.heads = 8;
  a.kv_heads = 2;
  a.bias = false;
  a.causal = true;
  a.rotary = true;
  return a;
}
LatentAttention latent() {
  LatentAttention a;
  a.heads = 4;
  a.query_rank = 32;
  a.kv_rank = 16;
  a.plain_size = 16;
  a.rotary_size = 8;
  a.value_size = 12;
  return a;
}
Experts experts() {
  Experts e;
  e.count = 8;
  e.top = 2;
  e.inner = 48;
  return e;
}
std::vector<std::pair<const char*, Graph>> all_kinds() {
  Attention normed = shared_heads();
  normed.head_norm = true;
  normed.head_size = 24;
  LatentAttention direct = latent();
  direct.query_rank = 0;
  return {{"shared", twice({node(shared_heads())})},
          {"normed", twice({node(normed)})},
          {"latent", twice({node(latent())})},
          {"direct", twice({node(direct)})},
          {"experts", twice({node(experts())})}};
}
std::vector<Recipe> all_recipes() {
  std::vector<Recipe> recipes;
  for (const auto& numbers : kNumbersNames) {
    for (const auto& fusion : kFusionNames) {
      for (const auto& recompute : kRecomputeNames) {
        recipes.push_back({.batch = 2,
                           .numbers = numbers.value,
                           .fusion = fusion.value,
                           .optimizer = Optimizer::kAdam,
                           .recompute = recompute.value});
      }
    }
  }
  return recipes;
}
template <class Work>
std::vector<Work> works(const Plan& plan, Phase phase) {
  std::vector<Work> found;
  for (const Op& op : plan.ops) {
    if (const auto* w = std::get_if<Work>(op.kernel()); w != nullptr && op.phase == phase && !op.again)
      found.push_back(*w);
  }
  return found;
}

TEST(Transformers, EveryGradientIsReadyOnceAndEveryPassingTensorWasWritten) {
  for (const auto& [name, g] : all_kinds()) {
    for (const Recipe& recipe : all_recipes()) {
      const Plan plan = make_plan(g, recipe);
      std::set<ParameterId> ready;
      for (const GradientReady& r : plan.ready) {
        EXPECT_TRUE(ready.insert(r.parameter).second) << name;
        EXPECT_EQ(plan.ops[static_cast<std::size_t>(r.op)].phase, Phase::kBackward) << name;
        EXPECT_FALSE(plan.ops[static_cast<std::size_t>(r.op)].again) << name;
      }
      EXPECT_EQ(ready.size(), g.parameters.size()) << name;
      std::set<TensorId> written;
      std::set<TensorId> unwritten;
      for (const Op& op : plan.ops) {
        for (const TensorId t : reads_of(op)) {
          if (written.count(t) == 0 &&
              plan.tensors[static_cast<std::size_t>(t)].role == TensorSpec::Role::kPassing)
            unwritten.insert(t);
        }
        for (const TensorId t : writes_of(op)) written.insert(t);
      }
      // Latent attention's values lie in a product of keys and values, once forward and again when
      // recomputed. With fusion, the optimizer left weights in the type of products.
      const bool values = std::string_view(name) == "latent" || std::string_view(name) == "direct";
      const bool copies = recipe.casts_weights() && recipe.fusion == Fusion::kFused;
      const std::size_t times = recipe.recompute == Recompute::kFull ? 4 : 2;
      if (!copies) {
        EXPECT_EQ(unwritten.size(), values ? times : 0) << name;
      }
    }
  }
}

TEST(Transformers, SharedHeadsHaveFewerKeysAndAddTheGradientsOfThoseThatShareThem) {
  const Graph g = twice({node(shared_heads())});
  EXPECT_EQ(g.operations[2].parameters.size(), 4U);
  EXPECT_EQ(g.parameters[static_cast<std::size_t>(g.operations[2].parameters[1])].rows, 16) << "2 heads of 8";
  const Plan plan = make_plan(g, {.batch = 2, .numbers = Numbers::kBf16, .fusion = Fusion::kFused});
  const auto spec = [&](TensorId t) { return plan.tensors[static_cast<std::size_t>(t)]; };
  const auto attends = works<Attend>(plan, Phase::kBackward);
  ASSERT_EQ(attends.size(), 2U);
  EXPECT_EQ(spec(attends[0].key).cols, 16);
  EXPECT_EQ(spec(attends[0].d_key).cols, 64) << "one for each head of queries";
  int sums = 0;
  for (const Streaming& s : works<Streaming>(plan, Phase::kBackward)) {
    const auto& pass = s.passes.front();
    if (pass.reads.size() == 1 && pass.writes.size() == 1 && spec(pass.reads[0]).cols == 64 &&
        spec(pass.writes[0]).cols == 16)
      ++sums;
  }
  EXPECT_EQ(sums, 4) << "keys and values of two layers";
}

TEST(Transformers, ExpertsGetEqualPartsOfTheTokensInOneKernel) {
  const Graph g = twice({node(experts())});
  EXPECT_EQ(g.parameter_count() - g.active_parameter_count(), 2 * 6 * 3 * 64 * 48) << "6 of 8 experts rest";
  const Plan plan = make_plan(g, {.batch = 2, .numbers = Numbers::kBf16});
  int grouped = 0;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    for (const MatMul& p : works<MatMul>(plan, phase)) {
      if (p.groups == 1) continue;
      ++grouped;
      EXPECT_EQ(p.groups, 8);
      EXPECT_DOUBLE_EQ(flops_of(plan, p), 2.0 * 64 * 2 * 64 * 48) << "64 tokens, 2 experts each";
    }
  }
  EXPECT_EQ(grouped, 2 * 3 * 3);
}

TEST(Transformers, TokensThatDoNotDivideEvenlyPadTheLastExperts) {
  const Graph g = twice({node(experts())}, 3);
  const Plan plan = make_plan(g, {.batch = 1, .numbers = Numbers::kBf16});
  for (const MatMul& p : works<MatMul>(plan, Phase::kForward)) {
    if (p.groups > 1) {
      EXPECT_EQ(size_of(plan, p).m, 1) << "6 rows for 8 experts";
    }
  }
}

TEST(EightBits, AreForProductsButNotForRoutersAttentionAndTheLastProjection) {
  const Graph g = twice({node(experts()), node(linear(64))});
  const Plan plan = make_plan(g, {.batch = 2, .numbers = Numbers::kFp8});
  const auto bytes = [&](TensorId t) { return plan.tensors[static_cast<std::size_t>(t)].element_bytes; };
  int narrow = 0;
  int wide = 0;
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    for (const MatMul& p : works<MatMul>(plan, phase)) {
      EXPECT_EQ(bytes(p.left), bytes(p.right));
      EXPECT_EQ(bytes(p.out), 2);
      ++(bytes(p.left) == 1 ? narrow : wide);
      if (bytes(p.left) == 1) {
        EXPECT_FALSE(p.left_by_k || p.right_by_k) << "rows only";
      }
    }
  }
  EXPECT_EQ(narrow, 2 * (3 + 1) * 3);
  EXPECT_EQ(wide, (2 + 1) * 3) << "two routers and the last projection";
}

TEST(EightBits, OperandsAreCastOnceByStreamingKernels) {
  const Graph g = twice({node(linear(64, false))});
  const auto casts = [&](Fusion fusion) {
    const Plan plan = make_plan(g, {.batch = 2, .numbers = Numbers::kFp8, .fusion = fusion});
    int n = 0;
    for (const Op& op : plan.ops) {
      const auto* s = std::get_if<Streaming>(op.kernel());
      if (s == nullptr || s->passes.front().writes.size() != 2) continue;
      const TensorSpec& out = plan.tensors[static_cast<std::size_t>(s->passes.front().writes[0])];
      const TensorSpec& turned = plan.tensors[static_cast<std::size_t>(s->passes.front().writes[1])];
      if (out.element_bytes != 1) continue;
      EXPECT_EQ(turned.rows, out.cols);
      EXPECT_EQ(turned.cols, out.rows);
      ++n;
    }
    return n;
  };
  EXPECT_EQ(casts(Fusion::kEager), 2 * 3) << "input, weight and gradient of each layer";
  EXPECT_EQ(casts(Fusion::kFused), 2 * 3);
}

TEST(EightBits, AreRefusedWhereAGpuHasNone) {
  const Graph g = twice({node(linear(64))});
  gpu::GpuSpec gpu;
  gpu.name = "old";
  const auto refused = check_recipe(gpu, g, {.numbers = Numbers::kFp8});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "old has no matrix units for fp8 (gpu.sm.matrix8 is 0); take a wider --dtype");
  EXPECT_TRUE(check_recipe(gpu, g, {.numbers = Numbers::kBf16}));
  gpu.sm.matrix8 = 4096;
  EXPECT_TRUE(check_recipe(gpu, g, {.numbers = Numbers::kFp8}));
}

TEST(Recomputation, NeedsSomethingThatRepeats) {
  const Graph g = graph(vector_model(8, {node(linear(8)), node(Loss{})}));
  const auto refused = check_recipe({}, g, {.recompute = Recompute::kFull});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message.substr(0, 17), "--recompute full:");
}

TEST(Recomputation, KeepsInputsOfRepetitionsOnly) {
  // A gated network: 64 to 256 features and back.
  Branches gate;
  gate.join = Branches::Join::kMultiply;
  gate.body = {node(linear(256, false)), node(Activation{Activation::Kind::kSilu})};
  gate.shortcut = {node(linear(256, false))};
  const Graph g = twice({Node{gate, {}}, node(linear(64, false))}, 512);
  const auto plan_of = [&](Recompute what) {
    return make_plan(g, {.batch = 4, .numbers = Numbers::kBf16, .recompute = what});
  };
  const auto again = [](const Plan& plan) {
    return std::count_if(plan.ops.begin(), plan.ops.end(), [](const Op& op) { return op.again; });
  };
  EXPECT_EQ(again(plan_of(Recompute::kNone)), 0);
  // Of each repetition: norm, silu and multiplication, not the addition at its end.
  EXPECT_EQ(again(plan_of(Recompute::kSelective)), 2 * 3);
  // And the two products in between; the last one's result is needed by nothing.
  EXPECT_EQ(again(plan_of(Recompute::kFull)), 2 * 5);
  const auto passing = [&](Recompute what) { return memory_need(plan_of(what)).passing.count(); };
  EXPECT_LT(passing(Recompute::kSelective), passing(Recompute::kNone));
  EXPECT_LT(passing(Recompute::kFull), passing(Recompute::kSelective));
}

TEST(Fusion, AJoinTakesTheEndOfItsBodyBehindTheShortcut) {
  Branches block;
  block.body = {node(conv(16)), node(BatchNorm{})};
  block.shortcut = {node(conv(16)), node(BatchNorm{})};
  const Graph g = graph(image_model({node(conv(16)), Node{block, {}}, node(Activation{}),
                                     node(find_layer("mean-pool")->layer), node(linear(10)), node(Loss{})}));
  const auto groups = fuse(g, Fusion::kFused);
  // conv | body's conv | shortcut's conv | its norm | body's norm, join, relu | pool | linear | loss
  ASSERT_EQ(groups.size(), 8U);
  EXPECT_EQ(groups[4], (std::vector<int>{2, 5, 6}));
  EXPECT_EQ(groups[3], (std::vector<int>{4}));
}

TEST(Plan, GradientsOfAShortcutComeBeforeThoseOfItsBody) {
  Branches block;
  block.body = {node(linear(8, false))};
  block.shortcut = {node(linear(8, false))};
  const Graph g =
      graph(vector_model(8, {node(linear(8, false)), Node{block, {}}, node(linear(2, false)), node(Loss{})}));
  for (const Fusion fusion : {Fusion::kEager, Fusion::kFused}) {
    std::vector<ParameterId> order;
    for (const GradientReady& r : make_plan(g, {.batch = 4, .fusion = fusion}).ready)
      order.push_back(r.parameter);
    EXPECT_EQ(order, (std::vector<ParameterId>{3, 2, 1, 0}))
        << "the body's is parameter 1, as it is declared";
  }
}

}  // namespace
}  // namespace infold::train
