// Every preset becomes a plan that fits together, however it is trained.
#include <cstdlib>

#include "config/catalog.h"
#include "helpers.h"
#include "plan_help.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/plan.h"
#include "train/strategy/strategies.h"

namespace infold::config {
namespace {

void expect_sound(const train::Graph& graph, const train::Plan& plan, const std::string& name) {
  expect_products_fit(graph, plan, name);
  const auto spec = [&](train::TensorId t) { return plan.tensors.at(static_cast<std::size_t>(t)); };
  for (const train::Op& op : plan.ops) {
    if (const auto* c = std::get_if<train::Convolve>(op.kernel())) {
      EXPECT_EQ(spec(c->in).rows, plan.recipe.batch * c->height * c->width) << name;
      EXPECT_EQ(spec(c->in).cols, c->channels) << name;
      EXPECT_EQ(spec(c->out).cols, c->filters) << name;
    }
  }
  const train::MemoryNeed need = train::memory_need(plan);
  EXPECT_EQ(need.weights.count(), graph.parameter_count() * plan.recipe.weight_bytes()) << name;
  EXPECT_EQ(need.gradients.count(), graph.parameter_count() * plan.recipe.gradient_bytes()) << name;
}

TEST(ModelPlans, OfAllPresetsFitTogether) {
  for (const PresetInfo& info : list_models()) {
    const auto model = load_model(info.name);
    ASSERT_EQ(error_of(model), "");
    const auto built = train::build_graph(model.value());
    const auto& graph = built.value();
    for (const auto fusion : {train::Fusion::kEager, train::Fusion::kFused}) {
      for (const auto& numbers : train::kNumbersNames) {
        for (const int passes : {1, 2}) {
          const train::Recipe recipe{
              .batch = 3, .accumulate = passes, .numbers = numbers.value, .fusion = fusion};
          expect_sound(graph, make_plan(graph, recipe), info.name);
        }
      }
      for (const auto recompute : {train::Recompute::kSelective, train::Recompute::kFull}) {
        expect_sound(graph, make_plan(graph, {.batch = 3, .fusion = fusion, .recompute = recompute}),
                     info.name);
      }
    }
  }
}

struct StepFlops {
  double products = 0;
  double attention = 0;
  double again = 0;  ///< of both, what is recomputed
};
StepFlops flops_of_step(const train::Plan& plan) {
  StepFlops sum;
  for (const train::Op& op : plan.ops) {
    double flops = 0;
    if (const auto* p = std::get_if<train::MatMul>(op.kernel())) {
      sum.products += flops = flops_of(plan, *p);
    } else if (const auto* a = std::get_if<train::Attend>(op.kernel())) {
      const auto pairs = static_cast<double>(a->sequence * a->sequence * plan.recipe.batch);
      const auto sizes = static_cast<double>(a->backward ? 3 * a->head_size + 2 * a->value_size
                                                         : a->head_size + a->value_size);
      sum.attention += flops = 2 * static_cast<double>(a->heads) * pairs * sizes;
    }
    if (op.again) sum.again += flops;
  }
  return sum;
}
/// Parameters that products multiply a token by. A table that is only looked up is none of them.
std::int64_t multiplied(const train::Graph& graph) {
  std::int64_t sum = 0;
  for (const auto& op : graph.operations) {
    for (const auto p : op.parameters) {
      const auto& parameter = graph.parameters[static_cast<std::size_t>(p)];
      if (parameter.matrix || op.as<train::Linear>() != nullptr)
        sum += parameter.rows > 1 ? parameter.elements() / parameter.parts * parameter.parts_used : 0;
    }
  }
  return sum;
}

TEST(ModelPlans, OfTransformersMultiplySixTimesTheActiveParametersAndAttention) {
  for (const char* name :
       {"gpt3-175b", "mpt-7b", "llama3-8b", "llama3-405b", "mixtral-8x7b", "qwen3-30b-a3b", "deepseek-v3"}) {
    const auto model = load_model(name);
    const train::Graph graph = train::build_graph(model.value(), 1024).value();
    const train::Plan plan = make_plan(graph, {.batch = 2, .numbers = train::Numbers::kBf16});
    const StepFlops flops = flops_of_step(plan);
    const double tokens = 2 * 1024;
    EXPECT_NEAR(flops.products / (6.0 * static_cast<double>(multiplied(graph)) * tokens), 1, 1e-12) << name;
    // Norms, biases and tables, which are looked up, are all the rest.
    EXPECT_GT(multiplied(graph), graph.active_parameter_count() * 9 / 10) << name;
    // Forward of the model is products and two products of attention; backward has five of those for four.
    EXPECT_NEAR((flops.products / 3 + flops.attention * 2 / 7) / (2 * graph.forward_flops()), 1, 0.002)
        << name;
  }
}

TEST(ModelPlans, OfTransformersRecomputeTheForwardPassOfTheirLayers) {
  for (const char* name : {"mpt-7b", "llama3-8b", "mixtral-8x7b", "deepseek-v3"}) {
    const auto model = load_model(name);
    const train::Graph graph = train::build_graph(model.value(), 1024).value();
    const train::Recipe none{.numbers = train::Numbers::kBf16, .fusion = train::Fusion::kFused};
    train::Recipe recipe = none;
    const auto plan_of = [&](train::Recompute what) {
      recipe.recompute = what;
      return make_plan(graph, recipe);
    };
    const train::Plan all = plan_of(train::Recompute::kNone);
    const train::Plan some = plan_of(train::Recompute::kSelective);
    const train::Plan least = plan_of(train::Recompute::kFull);
    EXPECT_EQ(flops_of_step(all).again, 0) << name;
    EXPECT_EQ(flops_of_step(some).again, 0) << name << ": products and attention are kept";
    EXPECT_GT(flops_of_step(least).again, flops_of_step(all).products / 3 * 0.55) << name;
    EXPECT_LT(flops_of_step(least).again, flops_of_step(all).products / 3 + flops_of_step(all).attention)
        << name;
    const auto passing = [](const train::Plan& p) { return memory_need(p).passing.count(); };
    EXPECT_LT(passing(some), passing(all) * 9 / 10) << name;
    EXPECT_LT(passing(least), passing(some) / 2) << name;
  }
}

TEST(Buckets, OfResNet50AreThoseOfPyTorch) {
  const auto model = load_model("resnet50");
  const train::Graph graph = train::build_graph(model.value()).value();
  const train::Plan plan = make_plan(graph, {.numbers = train::Numbers::kFp32});
  const work::Graph ddp = train::write_ddp({.plan = plan, .layout = {.dp = 2}, .sync = {}}).graph;
  std::vector<std::int64_t> elements;
  for (const work::Operation& op : ddp.operations) {
    if (const auto* c = std::get_if<work::Collective>(&op.what))
      elements.push_back(ddp.buffers[static_cast<std::size_t>(c->buffer)].bytes.count() / 4);
  }
  EXPECT_EQ(elements, (std::vector<std::int64_t>{2049000, 7875584, 6563840, 6637568, 2431040}));
  // Its own order of readiness is the order of the buckets: no bucket waits for a gradient of a later one.
  for (std::size_t i = 1; i < plan.ready.size(); ++i) {
    const auto layer = [&](std::size_t n) { return plan.ready[n].parameter; };
    EXPECT_LE(std::abs(layer(i) - layer(i - 1)), 3) << i;
  }
}

}  // namespace
}  // namespace infold::config
