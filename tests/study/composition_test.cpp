// Steps put together from profiles that are made up, so that their times can be worked out by hand.
#include "study/composed/composition.h"

#include <gtest/gtest.h>

namespace infold::study::composed {
namespace {

using work::OpId;

constexpr double kUs = 1e6;  // in picoseconds

sim::Time us(std::int64_t n) {
  return sim::Time::us(n);
}

/// Two ranks: kernels one after the other, and an all-reduce behind the first of them.
struct Step {
  work::Graph graph;
  Profiles profiles;
  std::vector<OpId> kernels;
  OpId reduced = 0;

  explicit Step(int count) {
    work::Timed kernel;
    kernel.time = us(10);
    graph.tensors.push_back({});
    graph.buffers.push_back({.bytes = sim::Bytes{1024}});
    graph.communicators.push_back({.name = "replicas", .groups = {{0, 1}}});
    work::Script script;
    script.streams.push_back({.name = "compute"});
    script.streams.push_back(
        {.name = "replicas", .kind = work::Stream::Kind::kCommunication, .communicator = 0});
    for (int k = 0; k < count; ++k) {
      kernels.push_back(graph.add(script.streams[0], {.what = kernel}));
      profiles.kind.push_back(0);
    }
    reduced = graph.add(script.streams[1], {.what = work::Collective{}, .after = {kernels.front()}});
    profiles.kind.push_back(-1);
    profiles.kernels = {10 * kUs};
    profiles.partner.assign(graph.operations.size(), -1);
    profiles.partner.back() = 0;
    profiles.communications.resize(graph.operations.size());
    profiles.communications.back() = {.first = 20 * kUs, .next = 20 * kUs};
    graph.scripts.push_back(script);
    graph.script_of = {0, 0};
  }
  Composition compose(std::vector<sim::Time> delays = {}) const {
    Composition c(graph, profiles, {.launch_gap = us(1), .delays = std::move(delays)}, {});
    EXPECT_TRUE(c.run().has_value());
    return c;
  }
};

TEST(Composition, KernelsFollowEachOtherWithTheGapOfALaunch) {
  const Step step(3);
  const Composition c = step.compose();
  EXPECT_EQ(c.times(0, step.kernels[0]).start, us(1));
  EXPECT_EQ(c.times(0, step.kernels[0]).end, us(11));
  EXPECT_EQ(c.times(1, step.kernels[2]).end, us(33));
  EXPECT_TRUE(c.ran(1, step.kernels[2]));
  EXPECT_FALSE(c.ran(1, step.reduced));
}

TEST(Composition, CommunicationBeginsWhenWhatItWaitsForHasEnded) {
  const Step step(3);
  const Composition c = step.compose();
  EXPECT_EQ(c.times(0, step.reduced).ready, us(11));
  EXPECT_EQ(c.times(0, step.reduced).end, us(31));
}

TEST(Composition, APairIsSlowerWhileBothAreUnderWay) {
  Step step(2);
  step.profiles.beside[{0, 0}] = {.kernel = 2, .partner = 1.5};
  const Composition c = step.compose();
  // The second kernel takes 20 us from 12 us on, all of it beside the all-reduce, which with the gap has done
  // 21 us / 1.5 = 14 of its 20 us by then.
  EXPECT_EQ(c.times(0, step.kernels[1]).end, us(32));
  EXPECT_EQ(c.times(0, step.reduced).end, us(38));
}

TEST(Composition, RatesChangeWhenAPartnerEnds) {
  Step step(3);
  step.profiles.beside[{0, 0}] = {.kernel = 2, .partner = 1};
  const Composition c = step.compose();
  // The all-reduce ends at 31 us, when 9.5 of 10 us of the second kernel have passed.
  EXPECT_EQ(c.times(0, step.reduced).end, us(31));
  EXPECT_EQ(c.times(0, step.kernels[1]).end, sim::Time::ns(31'500));
  EXPECT_EQ(c.times(0, step.kernels[2]).end, sim::Time::ns(42'500));
}

TEST(Composition, CommunicationWaitsForTheLastOfItsMembers) {
  const Step step(1);
  const Composition c = step.compose({us(0), us(5)});
  EXPECT_EQ(c.times(0, step.reduced).start, us(11));
  EXPECT_EQ(c.all_there(0, step.reduced), us(16));
  EXPECT_EQ(c.times(0, step.reduced).end, us(36));
  EXPECT_EQ(c.times(1, step.reduced).end, us(36));
}

TEST(Composition, SaysWhichPairsMet) {
  const Step step(2);
  const Composition c = step.compose();
  const Meetings& met = c.meetings();
  ASSERT_EQ(met.beside.size(), 1U);
  EXPECT_DOUBLE_EQ(met.beside.at({0, 0}), 11 * kUs);  // the second kernel with its gap
  EXPECT_TRUE(met.together.empty());
}

}  // namespace
}  // namespace infold::study::composed
