// L2 and HBM together: who hits, what is fetched, what leaves, and that bytes add up.
#include "gpu/memory/memory_system.h"

#include <rapidcheck/gtest.h>

namespace infold::gpu {
namespace {

using namespace sim::literals;

GpuSpec small_gpu() {
  GpuSpec s;
  s.clock = 1000_MHz;
  s.l2 = {
      .capacity = 256_KiB, .copies = 1, .slices = 10, .slice_port = 100_B, .latency = 100_ns};  // 1 ps a byte
  s.hbm.bandwidth = 100_GBps;  // 10 ps a byte
  s.hbm.groups = 1;
  s.hbm.channels = 1;
  s.hbm.write_drain = 16_KiB;
  s.hbm.refresh = 0_ns;
  s.hbm.access = 200_ns;
  s.hbm.turnaround = 10_ns;
  return s;
}

constexpr std::uint32_t kBlock = 8192;
Block block(std::uint64_t key) {
  return {key, kBlock};
}

TEST(MemorySystem, AMissWaitsForMemoryAndAHitDoesNot) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  EXPECT_EQ(m.read(Actor::kCompute, block(1), 0_ns), 81'920_ps + 200_ns + 100_ns);
  EXPECT_EQ(m.read(Actor::kCompute, block(1), 1_us), 1_us + 8'192_ps + 100_ns);
}

TEST(MemorySystem, AReadOfWhatIsOnItsWayWaitsForIt) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  const sim::Time first = m.read(Actor::kCompute, block(1), 0_ns);
  EXPECT_EQ(m.read(Actor::kCollective, block(1), 1_ns), first);
  EXPECT_EQ(m.traffic()[Actor::kCollective].hbm_read, 0u);
}

TEST(MemorySystem, OnlyWhatIsMissingIsFetched) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  m.read(Actor::kCompute, block(1), 100, 2048, 0_ns);
  m.read(Actor::kCompute, block(1), 100, 8192, 1_us);
  EXPECT_EQ(m.traffic()[Actor::kCompute].hbm_read, 8192u);
  EXPECT_EQ(m.traffic()[Actor::kCompute].l2_read, 200u);
}

TEST(MemorySystem, WhatWasWrittenIsReadFromL2) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  m.write(Actor::kCollective, block(1), 0_ns);
  EXPECT_EQ(m.read(Actor::kCompute, block(1), 1_us), 1_us + 8'192_ps + 100_ns);
  EXPECT_EQ(m.hbm_read_bytes(), 0u);
  EXPECT_EQ(m.hbm_written_bytes(), 0u);
  EXPECT_EQ(m.unwritten(), kBlock);
}

TEST(MemorySystem, TheLeastRecentlyUsedLeavesAndIsChargedToItsWriter) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  m.write(Actor::kCollective, block(1), 0_ns);
  m.write(Actor::kCollective, block(2), 0_ns);
  m.read(Actor::kCompute, block(1), 0_ns);  // now 2 is the older
  for (std::uint64_t b = 10; b < 10 + 31; ++b) m.read(Actor::kCompute, block(b), 0_ns);
  EXPECT_EQ(m.traffic()[Actor::kCollective].hbm_written, kBlock);
  EXPECT_EQ(m.traffic()[Actor::kCompute].hbm_written, 0u);
  const auto before = m.hbm_read_bytes();
  m.read(Actor::kCompute, block(1), 0_ns);
  EXPECT_EQ(m.hbm_read_bytes(), before);
}

TEST(MemorySystem, WhatIsEvictedDirtyIsWrittenAndTakesTheMemorysTime) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  for (std::uint64_t b = 0; b < 32; ++b) m.write(Actor::kCollective, block(b), 0_ns);
  EXPECT_EQ(m.hbm_written_bytes(), 0u) << "L2 has room for 32 blocks";
  for (std::uint64_t b = 32; b < 34; ++b) m.write(Actor::kCompute, block(b), 1_us);
  EXPECT_EQ(m.hbm_written_bytes(), 2u * kBlock);
  EXPECT_EQ(m.hbm_written_bytes() + m.unwritten(), 34u * kBlock) << "nothing is lost";
  // Two blocks are a drain: the memory turns round, writes them and turns back before it reads.
  const sim::Time drained = 1_us + 10_ns + 163'840_ps + 10_ns;
  EXPECT_EQ(m.read(Actor::kCompute, block(99), 1_us), drained + 81'920_ps + 200_ns + 100_ns);
}

TEST(MemorySystem, WritesTurnTheMemoryRoundOnlyWhenEnoughHaveCome) {
  const GpuSpec spec = small_gpu();
  Hbm hbm(spec.hbm);
  hbm.write(1, 8192, 0_ns);
  EXPECT_EQ(hbm.read(2, 100, 0_ns), 1_ns + 200_ns) << "half a drain waits";
  hbm.write(3, 8192, 0_ns);
  EXPECT_EQ(hbm.read(4, 100, 0_ns), 1_ns + 10_ns + 163'840_ps + 10_ns + 1_ns + 200_ns);
}

TEST(MemorySystem, AWriterWaitsForAMemoryThatIsBehind) {
  const GpuSpec spec = small_gpu();
  Hbm hbm(spec.hbm);
  sim::Time accepted;
  for (std::uint64_t b = 0; b < 100; ++b) accepted = hbm.write(b, 8192, 0_ns);
  EXPECT_GT(accepted, 7'000_ns) << "100 blocks take 8 us";
}

TEST(MemorySystem, RefreshTakesItsShareOfTheRate) {
  GpuSpec spec = small_gpu();
  spec.hbm.refresh_interval = 1000_ns;
  spec.hbm.refresh = 200_ns;
  Hbm hbm(spec.hbm);
  EXPECT_EQ(hbm.read(1, 8000, 0_ns), 100_ns + 200_ns) << "8000 bytes at 80 GB/s";
}

TEST(MemorySystem, ACursorLooksUpEachBlockOnce) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(spec, {});
  MemorySystem::Cursor c(Actor::kCollective, 1, 8000, 10'000);
  std::uint64_t left = 10'000;
  while (left > 0) {
    const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, 128));
    m.read(c, n, 0_ns);
    left -= n;
  }
  EXPECT_EQ(m.traffic()[Actor::kCollective].l2_read, 10'000u);
  EXPECT_EQ(m.traffic()[Actor::kCollective].hbm_read, 10'000u);
  MemorySystem::Cursor again(Actor::kCollective, 1, 8000, 10'000);
  EXPECT_EQ(m.read(again, 128, 1_us), 1_us + 128_ps + 100_ns);
}

TEST(MemorySystem, WithoutSharingOneActorCanNotTellThatAnotherIsThere) {
  const GpuSpec spec = small_gpu();
  MemorySystem alone(spec, {});
  MemorySystem beside(spec, {.sm = false, .l2 = false, .hbm = false, .link = false});
  for (std::uint64_t b = 0; b < 200; ++b) {
    const sim::Time now = sim::Time::ns(static_cast<std::int64_t>(b) * 20);
    beside.write(Actor::kCollective, block(1000 + b), now);
    beside.read(Actor::kCopy, block(b / 2), now);
    EXPECT_EQ(beside.read(Actor::kCompute, block(b % 50), now),
              alone.read(Actor::kCompute, block(b % 50), now));
  }
}

RC_GTEST_PROP(MemorySystemProperty, BytesAddUp, ()) {
  const GpuSpec spec = small_gpu();
  MemorySystem m(
      spec,
      {.sm = true, .l2 = *rc::gen::arbitrary<bool>(), .hbm = *rc::gen::arbitrary<bool>(), .link = true});
  std::uint64_t read = 0;
  std::uint64_t written = 0;
  for (int i = 0; i < 500; ++i) {
    const auto actor = static_cast<Actor>(*rc::gen::inRange(0, 3));
    const auto b = block(*rc::gen::inRange<std::uint64_t>(0, 80));
    const auto n = *rc::gen::inRange<std::uint32_t>(1, kBlock + 1);
    if (*rc::gen::arbitrary<bool>()) {
      m.read(actor, b, n, n, sim::Time::ns(i));
      read += n;
    } else {
      m.write(actor, b, n, sim::Time::ns(i));
      written += n;
    }
  }
  const Traffic all = m.traffic().total();
  RC_ASSERT(all.l2_read == read);
  RC_ASSERT(all.l2_written == written);
  RC_ASSERT(all.hbm_read == m.hbm_read_bytes());
  RC_ASSERT(all.hbm_written == m.hbm_written_bytes());
  RC_ASSERT(all.hbm_written + m.unwritten() <= written);
  RC_ASSERT(all.hbm_read <= read);
}

TEST(MemorySystem, ALargeL2HoldsWhatItsTablesWereNotLaidOutFor) {
  GpuSpec spec = small_gpu();
  spec.l2.capacity = 64_GiB;
  MemorySystem m(spec, {});
  constexpr std::uint64_t kBlocks = 100'000;  // 800 MB
  for (std::uint64_t b = 0; b < kBlocks; ++b) m.read(Actor::kCompute, block(b), 0_ns);
  EXPECT_EQ(m.hbm_read_bytes(), kBlocks * kBlock);
  for (std::uint64_t b = 0; b < kBlocks; ++b) m.read(Actor::kCompute, block(b), 0_ns);
  EXPECT_EQ(m.hbm_read_bytes(), kBlocks * kBlock) << "all is there";
}

}  // namespace
}  // namespace infold::gpu
