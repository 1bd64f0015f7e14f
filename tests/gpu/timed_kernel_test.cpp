// Kernels of which only the duration is known.
#include "gpu/kernel/timed_kernel.h"

#include "kernel_help.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;
using help::Bench;

sim::Time length(const KernelList& list, std::size_t i) {
  return list[i].ended_at() - list[i].began_at();
}

TEST(TimedKernel, AloneTakesItsTime) {
  for (const sim::Bytes bytes : {0_B, 1_MiB}) {
    Bench b{GpuSpec{}};
    b.list.add(TimedShape{.time = 50_us, .sms = 4, .bytes = bytes});
    b.run();
    EXPECT_EQ(length(b.list, 0), 50_us);
    EXPECT_EQ(b.list[0].grid(), 4);
    EXPECT_EQ(b.traffic().hbm_read, static_cast<std::uint64_t>(bytes.count()));
  }
}

TEST(TimedKernel, TakesLongerThanItSaysWhereMemoryCannotKeepUp) {
  Bench b{GpuSpec{}};
  b.list.add(TimedShape{.time = 1_us, .bytes = 256_MiB});
  b.run();
  EXPECT_GT(length(b.list, 0), 50_us);
}

TEST(TimedKernel, AloneTakesItsTimeInWaves) {
  const GpuSpec spec;
  for (const int waves : {1, 2, 5}) {
    Bench b{spec};
    b.list.add(TimedShape{.time = 50_us, .workgroups = waves * spec.sms, .bytes = {}});
    b.run();
    EXPECT_EQ(length(b.list, 0), 50_us);
    EXPECT_EQ(b.list[0].waves(), waves);
  }
}

TEST(TimedKernel, InWavesItTakesLongerByTheShareOfSmsThatItHasNot) {
  const GpuSpec spec;
  // Half of the SMs are taken: eight waves become sixteen.
  Bench b{spec};
  KernelList other(b.core);
  other.add(TimedShape{.time = 500_us, .sms = spec.sms / 2, .bytes = {}});
  other.enqueue(0, 1, b.core.dispatcher().add_stream(1), {});
  b.list.add(TimedShape{.time = 80_us, .workgroups = 8 * spec.sms, .bytes = {}});
  b.run();
  EXPECT_NEAR(length(b.list, 0).in_us(), 160, 160 * 0.15);
}

}  // namespace
}  // namespace infold::gpu
