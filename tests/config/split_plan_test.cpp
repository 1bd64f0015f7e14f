// Plans of ranks that share a model: they fit together, what ranks do adds up to the model, and they exchange
// what the papers say.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "config/catalog.h"
#include "helpers.h"
#include "plan_help.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/plan.h"

namespace infold::config {
namespace {

using coll::Collective;
using train::Axis;
using train::Split;
using train::TensorId;

constexpr int kTokens = 1024;
constexpr int kBatch = 2;

train::Graph graph_of(const char* name, int tokens = kTokens) {
  return train::build_graph(load_model(name).value(), tokens).value();
}

std::vector<train::Recipe> recipes() {
  std::vector<train::Recipe> all;
  for (const auto fusion : {train::Fusion::kEager, train::Fusion::kFused}) {
    for (const auto& recompute : train::kRecomputeNames) {
      for (const auto numbers : {train::Numbers::kBf16, train::Numbers::kMixed, train::Numbers::kFp8}) {
        all.push_back({.batch = kBatch, .numbers = numbers, .fusion = fusion, .recompute = recompute.value});
      }
    }
  }
  return all;
}
const train::Recipe kPlain{.batch = kBatch, .numbers = train::Numbers::kBf16};

struct Case {
  const char* model;
  Split split;
  std::int64_t padding = 0;  ///< parameters that are added so that the vocabulary can be divided
};
std::vector<Case> cases() {
  return {{"gpt2-xl", {.tp = 5}, 3 * 1600},
          {"gpt2-xl", {.cp = 4}},
          {"llama3-8b", {.tp = 8}},
          {"llama3-8b", {.tp = 8, .sp = true}},
          {"llama3-8b", {.tp = 2, .sp = true, .cp = 4}},
          {"gpt3-175b", {.tp = 8, .sp = true}, 7 * 12288},
          {"mixtral-8x7b", {.tp = 8, .sp = true}},
          {"mixtral-8x7b", {.ep = 8}},
          {"mixtral-8x7b", {.tp = 2, .sp = true, .cp = 2, .ep = 4}},
          {"qwen3-30b-a3b", {.tp = 4, .sp = true, .ep = 8}},
          {"qwen3-30b-a3b", {.cp = 2, .ep = 64}},
          {"deepseek-v3", {.ep = 64}},
          {"deepseek-v3", {.tp = 8, .sp = true, .cp = 2, .ep = 8}}};
}
std::string name_of(const Case& c) {
  return fmt::format("{} tp {} sp {} cp {} ep {}", c.model, c.split.tp, c.split.sp, c.split.cp, c.split.ep);
}

int ranks_of(const Split& split, Axis axis) {
  return axis == Axis::kTensor ? split.tp : axis == Axis::kContext ? split.cp : split.ep;
}

/// Tensors that are read although nothing wrote them: values that lie in a product with others.
std::size_t unwritten(const train::Plan& plan) {
  std::set<TensorId> written;
  std::set<TensorId> missing;
  for (const train::Op& op : plan.ops) {
    for (const TensorId t : reads_of(op)) {
      if (written.count(t) == 0 &&
          plan.tensors[static_cast<std::size_t>(t)].role == train::TensorSpec::Role::kPassing)
        missing.insert(t);
    }
    for (const TensorId t : writes_of(op)) written.insert(t);
  }
  return missing.size();
}

void expect_sound(const train::Graph& graph, const train::Plan& plan, const std::string& name) {
  expect_products_fit(graph, plan, name);
  const auto spec = [&](TensorId t) { return plan.tensors.at(static_cast<std::size_t>(t)); };
  for (const train::Op& op : plan.ops) {
    if (const auto* a = std::get_if<train::Attend>(op.kernel())) {
      EXPECT_EQ(spec(a->query).rows, plan.recipe.batch * a->sequence) << name;
      EXPECT_EQ(spec(a->key).rows, plan.recipe.batch * a->keys) << name;
      EXPECT_EQ(spec(a->query).cols, a->heads * a->head_size) << name;
      EXPECT_EQ(spec(a->key).cols, a->kv_heads * a->head_size) << name;
      EXPECT_EQ(spec(a->value).cols, a->kv_heads * a->value_size) << name;
    }
    if (const auto* c = op.communication()) {
      const sim::Bytes bytes{std::max(spec(c->in).bytes(), spec(c->out).bytes())};
      const int ranks = ranks_of(plan.split, c->axis);
      EXPECT_GT(ranks, 1) << name;
      const coll::BufferSizes sizes = coll::buffer_sizes(c->what, bytes, ranks);
      EXPECT_EQ(spec(c->in).bytes(), sizes.input.count()) << name;
      EXPECT_EQ(spec(c->out).bytes(), sizes.output.count()) << name;
      EXPECT_EQ(spec(c->in).element_bytes, spec(c->out).element_bytes) << name;
      if (coll::has_shares(c->what)) {
        EXPECT_EQ(bytes.count() % ranks, 0) << name;
      }
    }
  }
}

TEST(SplitPlans, FitTogetherHoweverTheModelIsTrained) {
  for (const Case& c : cases()) {
    const train::Graph graph = graph_of(c.model);
    for (const train::Recipe& recipe : recipes()) {
      const auto plan = make_plan(graph, recipe, c.split);
      ASSERT_EQ(error_of(plan), "") << name_of(c);
      expect_sound(graph, *plan, name_of(c));
      // Copies for ranks that share a sequence are written, so that there may be fewer.
      EXPECT_LE(unwritten(*plan), unwritten(make_plan(graph, recipe))) << name_of(c);
    }
  }
}

TEST(SplitPlans, OfOneRankAreThoseOfAll) {
  for (const char* name : {"gpt2-xl", "mixtral-8x7b", "deepseek-v3"}) {
    const train::Graph graph = graph_of(name);
    const auto split = make_plan(graph, kPlain, Split{});
    const train::Plan whole = make_plan(graph, kPlain);
    ASSERT_EQ(error_of(split), "");
    EXPECT_EQ(split->ops.size(), whole.ops.size());
    EXPECT_EQ(split->tensors.size(), whole.tensors.size());
    EXPECT_EQ(split->parameter_elements, whole.parameter_elements);
    for (const train::Op& op : split->ops) EXPECT_NE(op.kernel(), nullptr);
  }
}

TEST(SplitPlans, ParametersOfAllRanksAreThoseOfTheModel) {
  for (const Case& c : cases()) {
    const train::Graph graph = graph_of(c.model);
    const auto plan = make_plan(graph, kPlain, c.split);
    ASSERT_EQ(error_of(plan), "") << name_of(c);
    std::int64_t sum = 0;
    for (std::size_t p = 0; p < plan->parameter_elements.size(); ++p) {
      const int parts = (plan->parameter_divided[p] ? c.split.tp : 1) *
                        (plan->parameter_axis[p] == Axis::kExpertReplica ? c.split.ep : 1);
      sum += plan->parameter_elements[p] * parts;
    }
    EXPECT_EQ(sum, graph.parameter_count() + c.padding) << name_of(c);
    const train::MemoryNeed need = train::memory_need(*plan);
    std::int64_t own = 0;
    for (const std::int64_t n : plan->parameter_elements) own += n;
    EXPECT_EQ(need.weights.count(), own * plan->recipe.weight_bytes()) << name_of(c);
    EXPECT_EQ(need.gradients.count(), own * plan->recipe.gradient_bytes()) << name_of(c);
  }
}

double flops_of(const train::Plan& plan) {
  double sum = 0;
  for (const train::Op& op : plan.ops) {
    if (const auto* p = std::get_if<train::MatMul>(op.kernel())) sum += flops_of(plan, *p);
    if (const auto* a = std::get_if<train::Attend>(op.kernel())) {
      const double sizes = static_cast<double>(a->backward ? 3 * a->head_size + 2 * a->value_size
                                                           : a->head_size + a->value_size);
      sum += 2 * static_cast<double>(a->heads * a->sequence * a->keys * plan.recipe.batch) * sizes;
    }
  }
  return sum;
}

TEST(SplitPlans, ProductsOfAllRanksAreThoseOfTheModel) {
  for (const Case& c : cases()) {
    const train::Graph graph = graph_of(c.model);
    const auto plan = make_plan(graph, kPlain, c.split);
    ASSERT_EQ(error_of(plan), "") << name_of(c);
    // What a rank sends to experts of others, others send to its own. Words that pad the vocabulary are
    // multiplied, too: forward, and both gradients.
    const double padding = 6.0 * static_cast<double>(c.padding) * kTokens * kBatch;
    EXPECT_NEAR(flops_of(*plan) * c.split.tp * c.split.cp / (flops_of(make_plan(graph, kPlain)) + padding), 1,
                1e-12)
        << name_of(c);
  }
}

/// Of each size in bytes, how often it is exchanged.
std::map<std::int64_t, int> exchanges(const train::Plan& plan, Axis axis, Collective what) {
  std::map<std::int64_t, int> counts;
  for (const train::Op& op : plan.ops) {
    const auto* c = op.communication();
    if (c == nullptr || c->axis != axis || c->what != what) continue;
    const auto bytes = [&](TensorId t) { return plan.tensors[static_cast<std::size_t>(t)].bytes(); };
    ++counts[std::max(bytes(c->in), bytes(c->out))];
  }
  return counts;
}
using Counts = std::map<std::int64_t, int>;
constexpr std::int64_t kRows = std::int64_t{kTokens} * kBatch;

TEST(TensorParallel, AllReducesTwiceALayerAndPassWithoutSequenceParallelism) {
  const auto plan = make_plan(graph_of("llama3-8b"), kPlain, Split{.tp = 4});
  ASSERT_EQ(error_of(plan), "");
  // Two forward and two backward for each of 32 layers; the words' vectors, and the gradient behind the last
  // projection. The largest logit, the right one and the sum of all are one number for each token.
  EXPECT_EQ(exchanges(*plan, Axis::kTensor, Collective::kAllReduce),
            (Counts{{kRows * 4096 * 2, 4 * 32 + 2}, {kRows * 4, 3}}));
  EXPECT_TRUE(exchanges(*plan, Axis::kTensor, Collective::kAllGather).empty());
  EXPECT_TRUE(exchanges(*plan, Axis::kTensor, Collective::kReduceScatter).empty());
}

TEST(TensorParallel, GathersAndScattersWithSequenceParallelism) {
  const auto plan = make_plan(graph_of("llama3-8b"), kPlain, Split{.tp = 4, .sp = true});
  ASSERT_EQ(error_of(plan), "");
  // A layer gathers before both pairs of products, in backward gradients before and inputs again.
  EXPECT_EQ(exchanges(*plan, Axis::kTensor, Collective::kAllGather),
            (Counts{{kRows * 4096 * 2, 6 * 32 + 3}}));
  EXPECT_EQ(exchanges(*plan, Axis::kTensor, Collective::kReduceScatter),
            (Counts{{kRows * 4096 * 2, 4 * 32 + 2}}));
  // 65 norms that all ranks hold are summed in the end.
  EXPECT_EQ(exchanges(*plan, Axis::kTensor, Collective::kAllReduce),
            (Counts{{kRows * 4, 3}, {65 * 4096 * 2, 1}}));
}

TEST(TensorParallel, FullRecomputationRepeatsWhatForwardExchanges) {
  train::Recipe recipe = kPlain;
  recipe.recompute = train::Recompute::kFull;
  const auto plan = make_plan(graph_of("llama3-8b"), recipe, Split{.tp = 4});
  ASSERT_EQ(error_of(plan), "");
  // The sum behind the last product of a layer is the input of the next, which is kept.
  EXPECT_EQ(exchanges(*plan, Axis::kTensor, Collective::kAllReduce)[kRows * 4096 * 2], 5 * 32 + 2);
}

TEST(TensorParallel, ExchangesBesideTheGradientsOfWeights) {
  const auto plan = make_plan(graph_of("llama3-8b"), kPlain, Split{.tp = 4, .sp = true});
  ASSERT_EQ(error_of(plan), "");
  int beside = 0;
  for (std::size_t i = 1; i + 1 < plan->ops.size(); ++i) {
    const auto* c = plan->ops[i].communication();
    if (c == nullptr || plan->ops[i].phase != train::Phase::kBackward) continue;
    if (c->what != Collective::kReduceScatter) continue;
    const auto* next = std::get_if<train::MatMul>(plan->ops[i + 1].kernel());
    if (next != nullptr && next->of_weights) ++beside;
  }
  EXPECT_EQ(beside, 2 * 32 + 1) << "behind each scattering comes a gradient of a weight";
}

TEST(ContextParallel, GathersKeysAndValuesAndScattersTheirGradients) {
  const auto plan = make_plan(graph_of("llama3-8b"), kPlain, Split{.cp = 4});
  ASSERT_EQ(error_of(plan), "");
  const std::int64_t bytes = kRows * 8 * 128 * 2;
  EXPECT_EQ(exchanges(*plan, Axis::kContext, Collective::kAllGather), (Counts{{bytes, 4 * 32}}));
  EXPECT_EQ(exchanges(*plan, Axis::kContext, Collective::kReduceScatter), (Counts{{bytes, 2 * 32}}));
}

/// Forward passes both on once less than there are ranks; backward the same again, and their gradients home.
TEST(ContextParallel, PassesKeysAndValuesRound) {
  const auto plan =
      make_plan(graph_of("llama3-8b"), kPlain, Split{.cp = 4, .keys = train::KeyExchange::kRing});
  ASSERT_EQ(error_of(plan), "");
  const std::int64_t bytes = kRows / 4 * 8 * 128 * 2;
  EXPECT_EQ(exchanges(*plan, Axis::kContext, Collective::kSendRecv), (Counts{{bytes, (3 + 3 + 4) * 2 * 32}}));
  EXPECT_TRUE(exchanges(*plan, Axis::kContext, Collective::kAllGather).empty());
  // The parts of a rank's attention are as much work as the attention to what was gathered, but for the
  // diagonal.
  const auto pairs = [](const train::Plan& p) {
    double sum = 0;
    for (const train::Op& op : p.ops) {
      const auto* kernel = op.kernel();
      const auto* a = kernel == nullptr ? nullptr : std::get_if<train::Attend>(kernel);
      if (a != nullptr) sum += static_cast<double>(a->sequence * a->keys) * (a->causal ? 0.5 : 1);
    }
    return sum;
  };
  EXPECT_EQ(pairs(*plan), pairs(*make_plan(graph_of("llama3-8b"), kPlain, Split{.cp = 4})));
  EXPECT_THAT(
      error_of(make_plan(graph_of("deepseek-v3"), kPlain, Split{.cp = 4, .keys = train::KeyExchange::kRing})),
      testing::HasSubstr("latent attention"));
}

TEST(ExpertParallel, SendsEveryTokenToItsExpertsAndBackInBothPasses) {
  for (const auto& [name, layers, top, width] : {std::tuple{"mixtral-8x7b", 32, 2, 4096},
                                                 {"qwen3-30b-a3b", 48, 8, 2048},
                                                 {"deepseek-v3", 58, 8, 7168}}) {
    const auto plan = make_plan(graph_of(name), kPlain, Split{.ep = 8});
    ASSERT_EQ(error_of(plan), "") << name;
    EXPECT_EQ(exchanges(*plan, Axis::kExpert, Collective::kAllToAll),
              (Counts{{kRows * top * width * 2, 4 * layers}}))
        << name;
  }
}

TEST(ExpertParallel, PadsAllExpertsToTheOneThatGetsMost) {
  const auto even = make_plan(graph_of("mixtral-8x7b"), kPlain, Split{.ep = 8});
  const auto skewed = make_plan(graph_of("mixtral-8x7b"), kPlain, Split{.ep = 8, .skew = 1.5});
  ASSERT_EQ(error_of(skewed), "");
  EXPECT_EQ(exchanges(*skewed, Axis::kExpert, Collective::kAllToAll),
            (Counts{{kRows * 2 * 4096 * 2 * 3 / 2, 4 * 32}}));
  EXPECT_GT(flops_of(*skewed), 1.3 * flops_of(*even));
}

TEST(SplitPlans, RefuseWhatCannotBeDivided) {
  const auto why = [](const char* model, const Split& split, int tokens = kTokens) {
    return error_of(make_plan(graph_of(model, tokens), kPlain, split));
  };
  EXPECT_THAT(why("gpt2-xl", {.tp = 2}), testing::HasSubstr("25 heads cannot be divided among 2"));
  EXPECT_THAT(why("llama3-8b", {.tp = 16}), testing::HasSubstr("8 heads of keys and values"));
  EXPECT_THAT(why("llama3-8b", {.tp = 8, .sp = true}, 100), testing::HasSubstr("100 tokens of a sequence"));
  EXPECT_THAT(why("llama3-8b", {.cp = 8}, 24), testing::HasSubstr("24 tokens cannot be divided"));
  EXPECT_THAT(why("llama3-8b", {.ep = 8}), testing::HasSubstr("no experts"));
  EXPECT_THAT(why("mixtral-8x7b", {.ep = 3}), testing::HasSubstr("8 experts cannot be divided among 3"));
  EXPECT_THAT(why("mixtral-8x7b", {.tp = 2}), testing::HasSubstr("need sequence parallelism"));
  EXPECT_THAT(why("mixtral-8x7b", {.ep = 2, .skew = 0.5}), testing::HasSubstr("1 or more"));
  EXPECT_THAT(why("mixtral-8x7b", {.ep = 2, .skew = 5}), testing::HasSubstr("at most 4 times the mean"));
  EXPECT_THAT(why("llama3-8b", {.tp = 0}), testing::HasSubstr("one rank at least"));
  const train::Graph images = train::build_graph(load_model("resnet50").value()).value();
  EXPECT_THAT(error_of(make_plan(images, kPlain, Split{.tp = 2})),
              testing::HasSubstr("cannot divide 'conv'"));
  EXPECT_THAT(error_of(make_plan(images, kPlain, Split{.cp = 2})), testing::HasSubstr("divides sequences"));
}

}  // namespace
}  // namespace infold::config
