// The GPU's memory: a rate that all share, and a latency for those who wait for data.
#include "gpu/memory.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;

const HbmSpec kSpec{.bandwidth = 1'000_GBps, .latency = 500_ns};  // 1 ps a byte

TEST(Memory, AReadTakesItsBytesAndTheLatency) {
  Memory memory(kSpec);
  EXPECT_EQ(memory.read(100_B, 1_us), 1_us + 100_ps + 500_ns);
}

TEST(Memory, AWriteIsTakenOnceItsBytesAre) {
  Memory memory(kSpec);
  EXPECT_EQ(memory.write(100_B, 1_us), 1_us + 100_ps);
}

TEST(Memory, RequestsQueueForTheRateAndOverlapTheirLatencies) {
  Memory memory(kSpec);
  EXPECT_EQ(memory.read(1'000_B, 0_ns), 1_ns + 500_ns);
  EXPECT_EQ(memory.read(1'000_B, 0_ns), 2_ns + 500_ns);
  EXPECT_EQ(memory.write(1'000_B, 0_ns), 3_ns) << "reads and writes share";
}

TEST(Memory, IsIdleBetweenRequestsFarApart) {
  Memory memory(kSpec);
  memory.read(1'000_B, 0_ns);
  EXPECT_EQ(memory.write(1'000_B, 10_ns), 11_ns);
}

TEST(Memory, CountsWhatWasReadAndWritten) {
  Memory memory(kSpec);
  memory.read(100_B, 0_ns);
  memory.read(50_B, 0_ns);
  memory.write(7_B, 0_ns);
  EXPECT_EQ(memory.read_bytes, 150u);
  EXPECT_EQ(memory.written_bytes, 7u);
}

}  // namespace
}  // namespace infold::gpu
