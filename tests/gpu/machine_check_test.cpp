// Machines that cannot be built are refused, and say which parameter to look at.
#include "gpu/machine.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;

void expect_refused(const MachineSpec& spec, const std::string& path, const std::string& why) {
  const auto plan = MachinePlan::make(spec);
  ASSERT_FALSE(plan) << "not refused";
  EXPECT_EQ(plan.error().parameter, path);
  EXPECT_THAT(plan.error().message, testing::HasSubstr(why));
}

TEST(MachinePlans, AcceptsTheDefaultMachine) {
  EXPECT_TRUE(MachinePlan::make({}));
}

TEST(MachinePlans, RefusesAFabricThatCanNotBeDrawn) {
  MachineSpec spec;
  spec.fabric.topology = net::Topology::kCubeMesh;
  spec.gpus = 6;
  expect_refused(spec, "gpus", "exactly 8 GPUs");
}

TEST(MachinePlans, RefusesAMachineLargerThanTheSimulatorsMemory) {
  MachineSpec spec;
  spec.gpus = 1'000;
  spec.fabric.links_per_plane = {20};
  expect_refused(spec, "gpus", "GiB of the simulator's memory");
}

TEST(MachinePlans, RefusesAMachineThatDoesNotFitBeforeItIsRouted) {
  MachineSpec spec;
  spec.gpus = 16'384;
  spec.fabric.topology = net::Topology::kFatTree;
  spec.fabric.groups = 2'048;
  spec.fabric.leaves_per_group = 6;
  spec.fabric.spines = 96;
  const auto plan = MachinePlan::make(spec, [] { return false; });
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, sim::Error::Kind::kInput) << "routing would have asked whether to go on";
}

TEST(MachinePlans, RefusesAPacketLargerThanABuffer) {
  MachineSpec spec;
  spec.fabric.packet.payload = 512_B;
  spec.fabric.packet.header = 16_B;
  spec.fabric.switch_chip.buffer = 527_B;
  expect_refused(spec, "fabric.switch.buffer", "528 bytes does not fit a buffer of 527");
  spec.fabric.switch_chip.buffer = 528_B;
  EXPECT_TRUE(MachinePlan::make(spec));
}

TEST(MachinePlans, RefusesWhatWouldCutAnElementInTwo) {
  MachineSpec spec;
  spec.fabric.packet.payload = 130_B;
  expect_refused(spec, "fabric.packet.payload", "multiple of the 16");
  spec.fabric.packet.payload = 128_B;
  spec.fabric.interleave_block = 1'000_B;
  expect_refused(spec, "fabric.interleave_block", "multiple of the 16");
}

MachineSpec fat_tree_of_1024() {
  MachineSpec spec;
  spec.gpus = 1'024;
  spec.fabric.topology = net::Topology::kFatTree;
  spec.fabric.groups = 32;
  spec.fabric.leaves_per_group = 8;
  spec.fabric.spines = 256;
  return spec;
}

TEST(MachinePlans, AThousandGpusOnAFatTreeArePlannedAndBuilt) {
  const auto plan = MachinePlan::make(fat_tree_of_1024());
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->routes().diameter(), 4);
  const Machine machine(*plan, {});
  EXPECT_EQ(machine.map().links(), 2u * (1'024 * 8 + 32 * 256));
}

TEST(MachinePlans, AskOftenWhetherToGoOn) {
  // Between two questions about as much is done as for one leaf's column of the tables.
  int asked = 0;
  ASSERT_TRUE(MachinePlan::make(fat_tree_of_1024(), [&] { return ++asked > 0; }));
  EXPECT_GE(asked, 32 * 8);
}

TEST(MachinePlans, StopWhenAsked) {
  int questions = 0;
  for (const int after : {1, 100, 200}) {
    questions = 0;
    const auto plan = MachinePlan::make(fat_tree_of_1024(), [&] { return ++questions < after; });
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().kind, sim::Error::Kind::kInterrupted) << after;
    EXPECT_EQ(questions, after) << "nothing goes on after a no";
  }
}

TEST(MachinePlans, CopiesShareWhatWasDrawn) {
  const MachinePlan plan = MachinePlan::make({}).value();
  const MachinePlan copy = plan;  // NOLINT: that it is a copy is the point
  const Machine machine(copy, {});
  EXPECT_EQ(&machine.blueprint(), &plan.blueprint());
  EXPECT_EQ(&machine.map().routes(), &plan.routes());
}

}  // namespace
}  // namespace infold::gpu
