// A kernel beside a collective: with nothing shared nobody notices, with something shared somebody waits.
#include "study/collective/beside_run.h"

#include "job_help.h"

namespace infold::study {
namespace {

class Beside : public testing::Test {
 protected:
  Beside() { system.machine.gpu.sms = 16; }

  BesideJob job(const KernelChoice& kernel, gpu::Contention contention) {
    BesideJob j;
    j.kernel.gpu = &system.machine.gpu;
    j.kernel.kernel = kernel;
    j.collective = job_on(system, coll::Collective::kAllReduce, 4_MiB);
    j.core.contention = contention;
    return j;
  }
  BesideResult result(const BesideJob& j) {
    const auto outcome = run(j, {});
    EXPECT_TRUE(outcome);
    return outcome.value();
  }

  static constexpr gpu::Contention kNothing{.sm = false, .l2 = false, .hbm = false, .link = false};
  static GemmKernel gemm() { return {.m = 1024, .n = 1024, .k = 256}; }
  static StreamKernelJob stream(gpu::Residency grid = gpu::Residency::kAny) {
    return {.op = StreamOp::kBatchNormBackward, .rows = 1 << 14, .cols = 256, .grid = grid};
  }
  SystemSpec system = small_system(4, 2);
};

TEST_F(Beside, WithNothingSharedBothTakeExactlyAsLongAsAlone) {
  for (const KernelChoice& kernel : {KernelChoice{gemm()}, KernelChoice{stream()}}) {
    const BesideResult r = result(job(kernel, kNothing));
    EXPECT_EQ(r.kernel, r.kernel_alone);
    EXPECT_EQ(r.collective, r.collective_alone);
    EXPECT_GT(r.collectives, 0);
  }
}

TEST_F(Beside, LosingSmsSlowsAProductDown) {
  gpu::Contention only_sms = kNothing;
  only_sms.sm = true;
  const BesideResult r = result(job(gemm(), only_sms));
  EXPECT_GT(r.kernel, r.kernel_alone * 21 / 20);
  system.coll.channels = 1;
  EXPECT_LT(result(job(gemm(), only_sms)).kernel_slowdown(), r.kernel_slowdown());
}

TEST_F(Beside, SharingMemorySlowsAStreamingKernelDown) {
  system.machine.gpu.hbm.bandwidth = 200_GBps;
  system.machine.gpu.l2.capacity = 1_MiB;
  gpu::Contention only_memory = kNothing;
  only_memory.hbm = true;
  EXPECT_GT(result(job(stream(), only_memory)).kernel_slowdown(), 0.02);
}

TEST_F(Beside, AGridThatMustBeResidentTogetherWaitsForTheCollective) {
  gpu::Contention only_sms = kNothing;
  only_sms.sm = true;
  const double together = result(job(stream(gpu::Residency::kTogether), only_sms)).kernel_slowdown();
  const double cut = result(job(stream(gpu::Residency::kFree), only_sms)).kernel_slowdown();
  EXPECT_GT(together, cut * 1.5);
}

TEST_F(Beside, ReservedSmsAreLeftToTheCollective) {
  BesideJob j = job(gemm(), {});
  j.core.reserved_sms = system.coll.channels;
  const BesideResult reserved = result(j);
  EXPECT_LT(reserved.collective_slowdown(), result(job(gemm(), {})).collective_slowdown() + 0.01);
}

TEST_F(Beside, WhatEachMovesAddsUp) {
  const BesideResult r = result(job(gemm(), {}));
  EXPECT_GT(r.traffic[gpu::Actor::kCompute].l2_read, 0u);
  EXPECT_GT(r.traffic[gpu::Actor::kCollective].l2_read, 0u);
  EXPECT_EQ(r.traffic[gpu::Actor::kCopy].l2_read, 0u);
  EXPECT_GT(r.sm_time[gpu::Actor::kCollective], 0_us);
  EXPECT_GT(r.sm_time[gpu::Actor::kCompute], 0_us);
}

TEST_F(Beside, IsTheSameEveryTime) {
  const BesideResult a = result(job(gemm(), {}));
  const BesideResult b = result(job(gemm(), {}));
  EXPECT_EQ(a.kernel, b.kernel);
  EXPECT_EQ(a.collective, b.collective);
}

TEST_F(Beside, CopyEnginesCompeteForMemoryAndNotForSms) {
  const BesideJob j = job(CopyKernel{.bytes = 64_MiB, .by = CopyBy::kDma}, {});
  const auto outcome = run(j, {});
  const auto* r = outcome ? &*outcome : nullptr;
  ASSERT_NE(r, nullptr);
  EXPECT_GT(r->kernel_slowdown(), 0);
  EXPECT_GE(r->traffic[gpu::Actor::kCopy].l2_read, 64u * 1024 * 1024);
  EXPECT_EQ(r->sm_time[gpu::Actor::kCopy], sim::Time{});
}

TEST_F(Beside, ACollectiveOfTheAcceleratorLeavesAllSmsToAProduct) {
  BesideJob j = job(gemm(), {});
  j.collective.engine = coll::Engine::kAce;
  const auto outcome = run(j, {});
  const auto* r = outcome ? &*outcome : nullptr;
  ASSERT_NE(r, nullptr);
  EXPECT_EQ(r->sms, 0);
  EXPECT_EQ(r->sm_time[gpu::Actor::kCollective], sim::Time{});
  EXPECT_GT(r->traffic[gpu::Actor::kCollective].l2_read, 0u);
}

TEST_F(Beside, RefusesWhatItCanNotTime) {
  BesideJob j = job(gemm(), {});
  j.core.reserved_sms = 16;
  EXPECT_TRUE(is_refused(run(j, {})));
}

}  // namespace
}  // namespace infold::study
