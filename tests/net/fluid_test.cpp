// Flows that share resources: who gets how much, and when it ends.
#include "net/flow/fluid.h"

#include <gtest/gtest.h>

namespace infold::net {
namespace {

constexpr double kFast = 1e6;

sim::Time end_of(Fluid& fluid, Fluid::FlowId expected) {
  const sim::Time at = fluid.next();
  EXPECT_EQ(fluid.end_next(), expected);
  return at;
}

TEST(Fluid, AFlowAloneHasAllOfItsSlowestResource) {
  Fluid fluid;
  const std::vector<Fluid::Share> way = {{fluid.add_resource(2), 1}, {fluid.add_resource(0.5), 1}};
  const auto flow = fluid.begin(way, 1000, kFast, sim::Time{});
  EXPECT_EQ(end_of(fluid, flow), sim::Time::ps(2000));
  EXPECT_EQ(fluid.next(), sim::Time::never());
}

TEST(Fluid, NoFlowIsFasterThanItCan) {
  Fluid fluid;
  const std::vector<Fluid::Share> way = {{fluid.add_resource(2), 1}};
  const auto flow = fluid.begin(way, 1000, 0.1, sim::Time{});
  EXPECT_EQ(end_of(fluid, flow), sim::Time::ps(10'000));
}

TEST(Fluid, WhatAFlowLeavesTheOthersGet) {
  Fluid fluid;
  const std::vector<Fluid::Share> way = {{fluid.add_resource(1), 1}};
  const auto large = fluid.begin(way, 1000, kFast, sim::Time{});
  const auto small = fluid.begin(way, 100, kFast, sim::Time{});
  EXPECT_EQ(end_of(fluid, small), sim::Time::ps(200));
  EXPECT_EQ(end_of(fluid, large), sim::Time::ps(1100));
}

TEST(Fluid, OneThatComesLateSlowsTheOthersFromThen) {
  Fluid fluid;
  const std::vector<Fluid::Share> way = {{fluid.add_resource(1), 1}};
  const auto first = fluid.begin(way, 1000, kFast, sim::Time{});
  const auto second = fluid.begin(way, 1000, kFast, sim::Time::ps(500));
  EXPECT_EQ(end_of(fluid, first), sim::Time::ps(1500));
  EXPECT_EQ(end_of(fluid, second), sim::Time::ps(2000));
}

TEST(Fluid, AllThatEndAtAMomentEndWithoutRatesBeingWorkedOutBetweenThem) {
  Fluid fluid;
  const std::vector<Fluid::Share> way = {{fluid.add_resource(1), 1}};
  const auto a = fluid.begin(way, 100, kFast, sim::Time{});
  const auto b = fluid.begin(way, 100, kFast, sim::Time{});
  const auto large = fluid.begin(way, 300, kFast, sim::Time{});
  EXPECT_EQ(end_of(fluid, a), sim::Time::ps(300));
  ASSERT_TRUE(fluid.ends_by(sim::Time::ps(300)));
  EXPECT_EQ(fluid.end_next(), b);
  EXPECT_FALSE(fluid.ends_by(sim::Time::ps(300)));
  EXPECT_EQ(end_of(fluid, large), sim::Time::ps(500));
}

TEST(Fluid, AFlowTakesByWeight) {
  Fluid fluid;
  const std::uint32_t memory = fluid.add_resource(3);
  const std::vector<Fluid::Share> heavy = {{memory, 2}};
  const std::vector<Fluid::Share> light = {{memory, 1}};
  const auto a = fluid.begin(heavy, 100, kFast, sim::Time{});
  const auto b = fluid.begin(light, 300, kFast, sim::Time{});
  EXPECT_EQ(end_of(fluid, a), sim::Time::ps(100));
  EXPECT_NEAR(static_cast<double>(end_of(fluid, b).count_ps()), 100 + 200 / 3.0, 1);
}

}  // namespace
}  // namespace infold::net
