// What waits for what, where a plan communicates: as its tensors say, and no more.
#include "train/strategy/pass_writer.h"

#include "train/strategy/strategies.h"
#include "work/check.h"

namespace infold::train {
namespace {

using work::OpId;

/// A plan that is written op by op.
class PassWriterTest : public testing::Test {
 protected:
  TensorId tensor(std::int64_t rows = 64, TensorSpec::Role role = TensorSpec::Role::kPassing) {
    plan_.tensors.push_back({.role = role, .rows = rows, .cols = 64, .element_bytes = 2});
    return static_cast<TensorId>(plan_.tensors.size()) - 1;
  }
  int kernel(std::vector<TensorId> reads, std::vector<TensorId> writes, Phase phase = Phase::kForward) {
    return add(phase, Computation{Streaming{{{std::move(reads), std::move(writes), 1}}}});
  }
  int communicate(coll::Collective what, TensorId in, TensorId out, Axis axis = Axis::kTensor) {
    return add(Phase::kForward, Communicate{axis, what, in, out});
  }
  /// The plan as a graph of one script whose first operations are its ops.
  work::Graph write(const Layout& layout) {
    work::Graph g;
    g.script_of.assign(static_cast<std::size_t>(layout.ranks()), 0);
    g.scripts = {{.streams = {{.name = "compute"}}}};
    AxisStreams axes(g, layout);
    PassWriter writer(g, plan_, axes);
    writer.run(Phase::kForward);
    writer.run(Phase::kBackward);
    EXPECT_TRUE(work::check(g).has_value());
    return g;
  }
  static std::vector<OpId> after(const work::Graph& g, int op) { return g[op].after; }

  Plan plan_;

 private:
  template <class Work>
  int add(Phase phase, Work work) {
    plan_.ops.emplace_back();
    plan_.ops.back().phase = phase;
    plan_.ops.back().work = std::move(work);
    return static_cast<int>(plan_.ops.size()) - 1;
  }
};

constexpr auto kReduce = coll::Collective::kAllReduce;
const Layout kPairs{.dp = 2, .tp = 2};

TEST_F(PassWriterTest, CommunicationWaitsForTheLastWriterAndReadersWaitForIt) {
  const TensorId a = tensor();
  const TensorId b = tensor();
  const int writes = kernel({}, {a});
  const int other = kernel({}, {b});
  const int reduce = communicate(kReduce, a, a);
  const int beside = kernel({b}, {b});
  const int reads = kernel({a}, {b});
  const int again = kernel({a}, {b});
  const work::Graph g = write(kPairs);
  EXPECT_EQ(after(g, reduce), std::vector{writes});
  EXPECT_TRUE(after(g, other).empty());
  EXPECT_TRUE(after(g, beside).empty());
  EXPECT_EQ(after(g, reads), std::vector{reduce});
  EXPECT_TRUE(after(g, again).empty());  // its stream has waited
}

TEST_F(PassWriterTest, WhatIsStillSentIsNotOverwritten) {
  const TensorId a = tensor(64);
  const TensorId all = tensor(128);
  kernel({}, {a});
  const int gather = communicate(coll::Collective::kAllGather, a, all);
  const int overwrites = kernel({}, {a});
  const int used = kernel({all}, {});
  const int second = communicate(coll::Collective::kAllGather, a, all);
  const work::Graph g = write(kPairs);
  EXPECT_EQ(after(g, overwrites), std::vector{gather});
  EXPECT_TRUE(after(g, used).empty());
  EXPECT_EQ(after(g, second), std::vector{used});  // what it overwrites is read there last
}

TEST_F(PassWriterTest, AxesHaveStreamsOfTheirOwnThatWaitForEachOther) {
  const TensorId a = tensor();
  kernel({}, {a});
  const int first = communicate(kReduce, a, a, Axis::kTensor);
  const int then = communicate(kReduce, a, a, Axis::kContext);
  const work::Graph g = write({.dp = 1, .tp = 2, .cp = 2});
  EXPECT_EQ(after(g, then), std::vector{first});
  ASSERT_EQ(g.communicators.size(), 2U);
  EXPECT_EQ(g.communicators[0].groups, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
  EXPECT_EQ(g.communicators[1].groups, (std::vector<std::vector<int>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(g.scripts[0].streams[1].ops, std::vector{first});
  EXPECT_EQ(g.scripts[0].streams[2].ops, std::vector{then});
}

TEST_F(PassWriterTest, BuffersAreTheTensors) {
  const TensorId a = tensor(64);
  const TensorId all = tensor(128);
  kernel({}, {a});
  communicate(coll::Collective::kAllGather, a, all);
  const work::Graph g = write(kPairs);
  ASSERT_EQ(g.buffers.size(), 1U);
  EXPECT_EQ(g.buffers[0].bytes, sim::Bytes{128 * 64 * 2});
  EXPECT_EQ(g.buffers[0].input, a);
  EXPECT_EQ(g.buffers[0].output, all);
}

TEST_F(PassWriterTest, PartsWaitForTheKernelBefore) {
  const TensorId whole = tensor(64, TensorSpec::Role::kPart);
  const TensorId part = tensor(32);
  const int product = kernel({}, {whole});
  const int reduce = communicate(kReduce, part, part);
  const work::Graph g = write(kPairs);
  EXPECT_EQ(after(g, reduce), std::vector{product});
}

TEST_F(PassWriterTest, MicroBatchesHaveActivationsOfTheirOwnAndShareGradients) {
  const TensorId a = tensor();
  const TensorId gradient = tensor(64, TensorSpec::Role::kGradient);
  kernel({}, {a});
  kernel({a, gradient}, {gradient}, Phase::kBackward);
  work::Graph g;
  g.script_of = {0};
  g.scripts = {{.streams = {{.name = "compute"}}}};
  g.add(TensorSpec{});  // of another plan
  AxisStreams axes(g, {});
  PassWriter writer(g, plan_, axes);
  for (const Phase phase : {Phase::kForward, Phase::kBackward}) {
    for (const int micro_batch : {0, 1}) writer.run(phase, micro_batch);
  }
  EXPECT_EQ(g.tensors.size(), 4U);
  const auto touched = [&](OpId op) { return work::touched(std::get<work::Kernel>(g[op].what).what); };
  EXPECT_EQ(touched(0).writes, std::vector{1});
  EXPECT_EQ(touched(1).writes, std::vector{3});
  EXPECT_EQ(touched(2).reads, (std::vector{1, 2}));
  EXPECT_EQ(touched(3).reads, (std::vector{3, 2}));
  EXPECT_EQ(g.scripts[0].streams[0].ops, (std::vector{0, 1, 2, 3}));
  EXPECT_TRUE(work::check(g).has_value());
}

TEST_F(PassWriterTest, AStepWithoutCommunicationIsItsKernels) {
  const TensorId a = tensor();
  kernel({}, {a});
  communicate(kReduce, a, a);
  const int last = kernel({a}, {});
  const work::Graph g = write_alone(plan_);
  EXPECT_EQ(g.scripts[0].streams[0].ops, (std::vector{0, last}));
  EXPECT_TRUE(after(g, last).empty());
  EXPECT_TRUE(work::check(g).has_value());
}

}  // namespace
}  // namespace infold::train
