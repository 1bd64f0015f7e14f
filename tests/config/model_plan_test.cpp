// Every preset becomes a plan that fits together, however it is trained.
#include <set>

#include "config/catalog.h"
#include "helpers.h"
#include "train/graph.h"
#include "train/memory_need.h"
#include "train/plan.h"

namespace infold::config {
namespace {

void expect_sound(const train::Graph& graph, const train::Plan& plan, const std::string& name) {
  std::set<int> ready;
  for (const auto& r : plan.ready) EXPECT_TRUE(ready.insert(r.parameter).second) << name;
  EXPECT_EQ(ready.size(), graph.parameters.size()) << name;
  const auto spec = [&](train::TensorId t) { return plan.tensors.at(static_cast<std::size_t>(t)); };
  for (const train::Op& op : plan.ops) {
    if (const auto* p = std::get_if<train::MatMul>(&op.work)) {
      EXPECT_EQ(p->left_by_k ? spec(p->left).rows : spec(p->left).cols,
                p->right_by_k ? spec(p->right).rows : spec(p->right).cols)
          << name;
      EXPECT_EQ(spec(p->out).rows, p->left_by_k ? spec(p->left).cols : spec(p->left).rows) << name;
      EXPECT_EQ(spec(p->out).cols, p->right_by_k ? spec(p->right).cols : spec(p->right).rows) << name;
    }
    if (const auto* c = std::get_if<train::Convolve>(&op.work)) {
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
    }
  }
}

}  // namespace
}  // namespace infold::config
