// Models cut into parts: nothing lost, nothing twice, and what goes from part to part.
#include "train/parts.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "pipeline_help.h"
#include "train/plan.h"
#include "train/split_backward.h"

namespace infold::train {
namespace {

using namespace help;

std::vector<ModelPart> parts_of(const Graph& model, int parts) {
  return cut_into_parts(model, parts).value();
}

TEST(Parts, HoldEveryParameterOnce) {
  const Graph model = transformer(6);
  for (const int n : {1, 2, 3, 4, 6}) {
    std::int64_t sum = 0;
    std::set<ParameterId> all;
    for (const ModelPart& part : parts_of(model, n)) {
      sum += part.graph.parameter_count();
      for (const ParameterId p : part.parameters) EXPECT_TRUE(all.insert(p).second);
    }
    EXPECT_EQ(sum, model.parameter_count()) << n;
    EXPECT_EQ(all.size(), model.parameters.size());
    EXPECT_TRUE(shared_parameters(parts_of(model, n)).empty());
  }
}

TEST(Parts, ATiedEmbeddingIsAtBothEnds) {
  const Graph model = transformer(4, /*tied=*/true);
  const std::vector<ModelPart> parts = parts_of(model, 4);
  ASSERT_EQ(shared_parameters(parts).size(), 1U);
  const ParameterId table = shared_parameters(parts).front();
  EXPECT_EQ(model.parameters[static_cast<std::size_t>(table)].name, "table");
  std::int64_t sum = 0;
  for (const ModelPart& part : parts) sum += part.graph.parameter_count();
  EXPECT_EQ(sum, model.parameter_count() + 100 * 64);
  EXPECT_TRUE(shared_parameters(parts_of(model, 1)).empty());
}

TEST(Parts, HaveEqualSharesOfTheRepetitions) {
  const std::vector<ModelPart> parts = parts_of(transformer(6), 4);
  std::vector<int> repetitions;
  for (const ModelPart& part : parts) repetitions.push_back(part.graph.repetitions);
  EXPECT_EQ(repetitions, (std::vector{1, 2, 1, 2}));
}

TEST(Parts, HandOnOneValueEach) {
  const std::vector<ModelPart> parts = parts_of(transformer(4), 4);
  EXPECT_EQ(parts.front().graph.received, -1);
  EXPECT_EQ(parts.back().graph.sent, -1);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Graph& before = parts[i - 1].graph;
    const Graph& part = parts[i].graph;
    ASSERT_GE(before.sent, 0);
    ASSERT_GE(part.received, 0);
    EXPECT_EQ(part.shape(part.received), before.shape(before.sent));
    EXPECT_EQ(part.shape(part.received).elements(), 32 * 64);
  }
}

double flops_of(const Plan& plan) {
  double sum = 0;
  for (const Op& op : plan.ops) {
    if (const auto* m = std::get_if<MatMul>(op.kernel())) sum += flops_of(plan, *m);
  }
  return sum;
}

TEST(Parts, DoTheWorkOfTheWholeModel) {
  const Graph model = transformer(4);
  for (const Recompute r : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    for (const Fusion f : {Fusion::kEager, Fusion::kFused}) {
      const Recipe recipe{.batch = 2, .numbers = Numbers::kBf16, .fusion = f, .recompute = r};
      double sum = 0;
      std::size_t ready = 0;
      for (const ModelPart& part : parts_of(model, 4)) {
        const Plan plan = make_plan(part.graph, recipe);
        sum += flops_of(plan);
        ready += plan.ready.size();
      }
      EXPECT_EQ(sum, flops_of(make_plan(model, recipe)));
      EXPECT_EQ(ready, model.parameters.size());
    }
  }
}

TEST(Parts, ReadWhatTheyReceiveAndWriteWhatTheySend) {
  for (const Recompute r : {Recompute::kNone, Recompute::kFull}) {
    const Recipe recipe{.batch = 2, .numbers = Numbers::kBf16, .recompute = r};
    for (const ModelPart& part : parts_of(transformer(4), 4)) {
      const Plan plan = make_plan(part.graph, recipe);
      std::set<TensorId> read;
      std::set<TensorId> written;
      for (const Op& op : plan.ops) {
        for (const TensorId t : reads_of(op)) read.insert(t);
        for (const TensorId t : writes_of(op)) written.insert(t);
      }
      const bool first = part.graph.received < 0;
      const bool last = part.graph.sent < 0;
      EXPECT_EQ(plan.ends.received < 0, first);
      EXPECT_EQ(plan.ends.sent_gradient < 0, first);
      EXPECT_EQ(plan.ends.sent < 0, last);
      EXPECT_EQ(plan.ends.received_gradient < 0, last);
      if (!first) {
        EXPECT_TRUE(read.contains(plan.ends.received));
        EXPECT_FALSE(written.contains(plan.ends.received));
        EXPECT_TRUE(written.contains(plan.ends.sent_gradient));
      }
      if (!last) {
        EXPECT_TRUE(read.contains(plan.ends.received_gradient));
        EXPECT_FALSE(written.contains(plan.ends.received_gradient));
        EXPECT_TRUE(written.contains(plan.ends.sent));
      }
    }
  }
}

TEST(Parts, RefuseWhatCannotBeCut) {
  const auto why = [](const Graph& model, int parts) {
    const auto cut = cut_into_parts(model, parts);
    return cut ? std::string() : cut.error().message;
  };
  EXPECT_EQ(
      why(transformer(2), 3),
      "a model is cut between the repetitions of its 'repeat': it has 2, which are not enough for 3 parts");
}

TEST(SplitBackward, GivesEveryOpToOneHalfInAnOrderThatCanRun) {
  for (const Recompute r : {Recompute::kNone, Recompute::kSelective, Recompute::kFull}) {
    for (const Fusion f : {Fusion::kEager, Fusion::kFused}) {
      for (const Numbers n : {Numbers::kMixed, Numbers::kBf16, Numbers::kFp8}) {
        const Recipe recipe{.batch = 2, .accumulate = 4, .numbers = n, .fusion = f, .recompute = r};
        for (const ModelPart& part : parts_of(transformer(4, true), 4)) {
          const Plan plan = make_plan(part.graph, recipe);
          const SplitBackward split = split_backward(plan);
          std::vector<int> all = split.inputs;
          all.insert(all.end(), split.weights.begin(), split.weights.end());
          std::set<TensorId> by_weights;
          for (const int op : split.weights) {
            for (const TensorId t : writes_of(plan.ops[static_cast<std::size_t>(op)])) by_weights.insert(t);
          }
          for (const int op : split.inputs) {
            for (const TensorId t : reads_of(plan.ops[static_cast<std::size_t>(op)]))
              EXPECT_FALSE(by_weights.contains(t)) << "op " << op << " reads what comes later";
          }
          std::ranges::sort(all);
          std::vector<int> backward(all.size());
          std::iota(backward.begin(), backward.end(), plan.first_op(Phase::kBackward));
          EXPECT_EQ(all, backward);
          EXPECT_EQ(all.back() + 1, plan.first_op(Phase::kOptimizer));
        }
      }
    }
  }
}

TEST(SplitBackward, PutsProductsWhereTheyBelong) {
  const Recipe recipe{.batch = 2, .numbers = Numbers::kBf16};
  for (const ModelPart& part : parts_of(transformer(4), 2)) {
    const Plan plan = make_plan(part.graph, recipe);
    const SplitBackward split = split_backward(plan);
    double inputs = 0;
    double weights = 0;
    for (const int op : split.inputs) {
      const auto* m = std::get_if<MatMul>(plan.ops[static_cast<std::size_t>(op)].kernel());
      if (m == nullptr) continue;
      EXPECT_FALSE(m->of_weights);
      inputs += flops_of(plan, *m);
    }
    for (const int op : split.weights) {
      const auto* m = std::get_if<MatMul>(plan.ops[static_cast<std::size_t>(op)].kernel());
      if (m == nullptr) continue;
      EXPECT_TRUE(m->of_weights);
      weights += flops_of(plan, *m);
    }
    EXPECT_EQ(inputs, weights) << "two products of equal size for each in forward";
  }
}

}  // namespace
}  // namespace infold::train
