// Machines that can not be built are refused, and say which parameter to look at.
#include "gpu/machine.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;

void expect_refused(const MachineSpec& spec, const std::string& path, const std::string& why) {
  const auto refusal = Machine::check(spec);
  ASSERT_TRUE(refusal) << "not refused";
  EXPECT_EQ(refusal->path, path);
  EXPECT_THAT(refusal->why, testing::HasSubstr(why));
}

TEST(MachineCheck, AcceptsTheDefaultMachine) {
  EXPECT_FALSE(Machine::check({}));
}

TEST(MachineCheck, RefusesAFabricThatCanNotBeDrawn) {
  MachineSpec spec;
  spec.fabric.topology = net::Topology::kCubeMesh;
  spec.gpus = 6;
  expect_refused(spec, "gpus", "exactly 8 GPUs");
}

TEST(MachineCheck, RefusesAMachineLargerThanTheSimulatorsMemory) {
  MachineSpec spec;
  spec.gpus = 1'000;
  spec.fabric.links_per_plane = {20};
  expect_refused(spec, "gpus", "GiB of the simulator's memory");
}

TEST(MachineCheck, RefusesAPacketLargerThanABuffer) {
  MachineSpec spec;
  spec.fabric.packet.payload = 512_B;
  spec.fabric.packet.header = 16_B;
  spec.fabric.switch_chip.buffer = 527_B;
  expect_refused(spec, "fabric.switch.buffer", "528 bytes does not fit a buffer of 527");
  spec.fabric.switch_chip.buffer = 528_B;
  EXPECT_FALSE(Machine::check(spec));
}

TEST(MachineCheck, RefusesWhatWouldCutAnElementInTwo) {
  MachineSpec spec;
  spec.fabric.packet.payload = 130_B;
  expect_refused(spec, "fabric.packet.payload", "multiple of the 16");
  spec.fabric.packet.payload = 128_B;
  spec.fabric.interleave_block = 1'000_B;
  expect_refused(spec, "fabric.interleave_block", "multiple of the 16");
}

}  // namespace
}  // namespace infold::gpu
