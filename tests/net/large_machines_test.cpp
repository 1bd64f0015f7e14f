// Machines of many GPUs: what routing tables grow with, that they lead to their GPUs, and that making them
// can be stopped.
#include <gmock/gmock.h>

#include "fabric_help.h"
#include "net/topology/adjacency.h"

namespace infold::net {
namespace {

TEST(Twins, AreTheGpusBelowTheSameLeaves) {
  const Blueprint b = drawn(fat_tree(4, 2, 4), 12);
  const Twins twins(b, Adjacency(b));
  EXPECT_EQ(twins.gpu_groups(), 4u);
  EXPECT_EQ(twins.groups(), 4u + 8 + 4) << "every switch is alone";
  EXPECT_THAT(twins.members(1), testing::ElementsAre(3, 4, 5));
  EXPECT_EQ(twins.place(5).group, 1u);
  EXPECT_EQ(twins.place(5).member, 2u);
}

TEST(Twins, AreNotHadByGpusThatAreJoinedToGpus) {
  FabricSpec ring;
  ring.topology = Topology::kRing;
  const Blueprint b = drawn(ring, 6);
  EXPECT_EQ(Twins(b, Adjacency(b)).gpu_groups(), 6u);
}

TEST(Twins, SpreadAlike) {
  Blueprint b = drawn(FabricSpec{}, 4);
  b.spread_divisor[2] = 3;
  const Twins twins(b, Adjacency(b));
  EXPECT_EQ(twins.gpu_groups(), 2u);
  EXPECT_THAT(twins.members(0), testing::ElementsAre(0, 1, 3));
}

TEST(LargeMachines, OfSixteenThousandGpusAreRoutedAndProved) {
  const Blueprint b = drawn(fat_tree(256, 1, 16), 16384);
  const auto routes = Routes::make(b);
  ASSERT_TRUE(routes);
  EXPECT_TRUE(prove_no_deadlock(b, *routes));
  EXPECT_EQ(routes->diameter(), 4);
  for (const int to : {1, 63, 64, 16383}) {
    const auto links = path(b, *routes, 0, to, 5);
    ASSERT_EQ(links.size(), to < 64 ? 2u : 4u);
    EXPECT_EQ(from_of(b, links.front()), 0);
    EXPECT_EQ(to_of(b, links.back()), to);
  }
}

TEST(LargeMachines, WhoseTablesWouldBeTooLargeAreRefusedWithNumbers) {
  FabricSpec ring;
  ring.topology = Topology::kRing;
  const auto routes = Routes::make(drawn(ring, 9000));
  ASSERT_FALSE(routes);
  EXPECT_EQ(routes.error().parameter, "gpus");
  EXPECT_THAT(routes.error().message, testing::HasSubstr("tables of 9000 x 9000 entries"));
}

TEST(LargeMachines, AskOftenWhetherToGoOn) {
  // Each of 2000 x 2000 ways of a ring is a step, in the tables and in the proof.
  FabricSpec ring;
  ring.topology = Topology::kRing;
  const Blueprint b = drawn(ring, 2000);
  const std::int64_t steps = 2000LL * 2000;
  int asked = 0;
  const sim::GoOn count = [&] { return ++asked > 0; };
  const auto routes = Routes::make(b, count);
  ASSERT_TRUE(routes);
  EXPECT_GE(asked, steps / sim::Patience::kStepsPerLook);
  asked = 0;
  ASSERT_TRUE(prove_no_deadlock(b, *routes, count));
  EXPECT_GE(asked, steps / sim::Patience::kStepsPerLook);
}

TEST(LargeMachines, StopAtAnyQuestion) {
  FabricSpec ring;
  ring.topology = Topology::kRing;
  const Blueprint b = drawn(ring, 1500);
  for (int last = 0; last < 3; ++last) {
    int asked = 0;
    const sim::GoOn stop = [&] { return asked++ < last; };
    const auto routes = Routes::make(b, stop);
    ASSERT_FALSE(routes);
    EXPECT_EQ(routes.error().kind, sim::Error::Kind::kInterrupted);
    EXPECT_EQ(asked, last + 1) << "asked no more after the answer";
  }
}

}  // namespace
}  // namespace infold::net
