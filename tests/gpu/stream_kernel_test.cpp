// Streaming kernels, attention and copies: bytes they move, and how they share the GPU.
#include "gpu/kernel/stream_kernel.h"

#include "gpu/copy/copy_engine.h"
#include "kernel_help.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;
using help::Bench;

TEST(StreamKernel, MovesEachByteOnce) {
  Bench b{GpuSpec{}};
  const Tensor x = b.tensor(10'000, 100);
  b.list.elementwise({x, b.tensor(10'000, 100)}, {b.tensor(10'000, 100, 4)}, 1);
  b.run();
  EXPECT_EQ(b.traffic().l2_read, 2u * 10'000 * 100 * 2);
  EXPECT_EQ(b.traffic().l2_written, 10'000u * 100 * 4);
}

TEST(StreamKernel, BatchNormBackwardReadsFourTimesAndWritesOnce) {
  for (const Residency r : {Residency::kAny, Residency::kTogether, Residency::kFree}) {
    Bench b{GpuSpec{}};
    const Tensor x = b.tensor(100'000, 256);
    b.list.batch_norm_backward(x, b.tensor(100'000, 256), b.tensor(100'000, 256), r);
    b.run();
    EXPECT_EQ(b.traffic().l2_read, 4u * 100'000 * 256 * 2);
    EXPECT_EQ(b.traffic().l2_written, 100'000u * 256 * 2);
    EXPECT_EQ(b.list.size(), r == Residency::kAny ? 2u : 1u);
  }
}

TEST(StreamKernel, TheSecondPassFindsASmallTensorInL2) {
  Bench b{GpuSpec{}};
  const Tensor x = b.tensor(1000, 256);
  b.list.batch_norm_forward(x, b.tensor(1000, 256), Residency::kTogether);
  b.run();
  EXPECT_EQ(b.traffic().l2_read, 2u * 1000 * 256 * 2);
  EXPECT_EQ(b.traffic().hbm_read, 1000u * 256 * 2);
}

TEST(StreamKernel, MemoryReadsNoByteTwiceForOnePassHoweverSmallL2Is) {
  GpuSpec spec;
  spec.sm.outstanding = 1_KiB;  // blocks are read in pieces, and evicted between two of them
  for (const auto capacity : {64_KiB, 256_KiB, 2_MiB}) {
    spec.l2.capacity = capacity;
    Bench b{spec};
    b.list.elementwise({b.tensor(12'544, 64, 4), b.tensor(12'544, 64, 4)}, {b.tensor(12'544, 64, 4)}, 1);
    b.run();
    EXPECT_EQ(b.traffic().hbm_read, 2u * 12'544 * 64 * 4) << capacity.count();
  }
}

TEST(StreamKernel, WhatOneKernelWroteTheNextFindsInL2HoweverItWalks) {
  Bench b{GpuSpec{}};
  const Tensor x = b.tensor(1024, 512);
  const Tensor y = b.tensor(1024, 512);
  b.list.elementwise({x}, {y}, 1);
  const Tensor w = b.tensor(512, 256);
  b.list.add(matrix_product(y, w, b.tensor(1024, 256), Precision::kFp16));
  b.run();
  EXPECT_EQ(b.traffic().hbm_read, (1024u * 512 + 512 * 256) * 2) << "x and w, not y";
}

TEST(StreamKernel, ItsTimeIsThatOfTheMemory) {
  Bench b{GpuSpec{}};
  b.list.elementwise({b.tensor(1 << 20, 64)}, {b.tensor(1 << 20, 64)}, 1);
  const double gbps = 2.0 * (1 << 20) * 128 / b.run().in_s() * 1e-9;
  EXPECT_GT(gbps, 1450);
  EXPECT_LT(gbps, 1750);
}

// Little's law: memory far away, so each SM moves what can be on its way to it once a latency.
TEST(StreamKernel, AnSmHasOnlySoManyLoadsOnTheirWay) {
  GpuSpec spec;
  spec.hbm.access = 50_us;
  for (const sim::Bytes outstanding : {4_KiB, 16_KiB, 64_KiB}) {
    spec.sm.outstanding = outstanding;
    Bench b{spec};
    b.list.elementwise({b.tensor(1 << 17, 64), b.tensor(1 << 17, 64)}, {b.tensor(1 << 17, 64)}, 1);
    const double gbps = 2.0 * (1 << 17) * 128 / b.run().in_s() * 1e-9;
    const double bound = static_cast<double>(outstanding.count()) * spec.sms / 50e-6 * 1e-9;
    EXPECT_LT(gbps, bound) << outstanding.count();
    EXPECT_GT(gbps, bound * 0.7) << outstanding.count();
  }
}

TEST(StreamKernel, MuchArithmeticTakesLonger) {
  Bench light{GpuSpec{}};
  light.list.elementwise({light.tensor(1 << 18, 64)}, {light.tensor(1 << 18, 64)}, 1);
  Bench heavy{GpuSpec{}};
  heavy.list.elementwise({heavy.tensor(1 << 18, 64)}, {heavy.tensor(1 << 18, 64)}, 200);
  EXPECT_GT(heavy.run(), light.run() * 2);
}

TEST(Attention, MovesQueriesAndResultsOnceAndKeysForEveryTileOfQueries) {
  Bench b{GpuSpec{}};
  const Attention a{.batch = 2, .sequence = 512, .heads = 4, .head_size = 64};
  b.list.add(a, attention_tensors(b.core.addresses(), a), false);
  b.run();
  const std::uint64_t one = 2u * 512 * 4 * 64 * 2;
  EXPECT_EQ(b.traffic().l2_read, one + 2 * 4 * one) << "4 tiles of 128 queries";
  EXPECT_EQ(b.traffic().l2_written, one);
  EXPECT_EQ(b.traffic().hbm_read, 3 * one);
  EXPECT_DOUBLE_EQ(b.list.flops(), 4.0 * 2 * 4 * 512 * 512 * 64);
}

TEST(Attention, HeadsThatShareKeysFetchThemOnceAndWriteTheirOwnGradients) {
  const Attention a{.batch = 2, .sequence = 512, .heads = 8, .head_size = 64, .kv_heads = 2};
  const std::uint64_t one = 2u * 512 * 64 * 2;  // a head
  Bench forward{GpuSpec{}};
  forward.list.add(a, attention_tensors(forward.core.addresses(), a), false);
  forward.run();
  EXPECT_EQ(forward.traffic().hbm_read, (8 + 2 + 2) * one);
  EXPECT_EQ(forward.traffic().l2_read, 8 * one + 2 * 4 * 8 * one) << "every head walks along its keys";
  Bench backward{GpuSpec{}};
  backward.list.add(a, attention_tensors(backward.core.addresses(), a), true);
  backward.run();
  EXPECT_EQ(backward.traffic().hbm_read, (8 + 8 + 2 + 2) * one)
      << "queries, gradients of results, keys, values";
  EXPECT_EQ(backward.traffic().l2_written, 2 * 8 * one + 4 * 8 * 2 * one)
      << "keys', values', queries' in fp32";
}

TEST(Attention, ValuesMayBeNarrowerThanKeys) {
  const Attention a{.batch = 1, .sequence = 256, .heads = 4, .head_size = 192, .value_size = 128};
  Bench b{GpuSpec{}};
  b.list.add(a, attention_tensors(b.core.addresses(), a), false);
  b.run();
  EXPECT_EQ(b.traffic().l2_written, 256u * 4 * 128 * 2);
  EXPECT_DOUBLE_EQ(b.list.flops(), 2.0 * 4 * 256 * 256 * (192 + 128));
  EXPECT_DOUBLE_EQ(a.flops(true), 2.0 * 4 * 256 * 256 * (3 * 192 + 2 * 128));
}

TEST(Attention, RanksThatShareASequenceHaveEqualPartsOfTheWork) {
  for (const bool causal : {false, true}) {
    for (const bool backward : {false, true}) {
      const Attention whole{.batch = 2, .sequence = 1024, .heads = 4, .head_size = 64, .causal = causal};
      Attention part = whole;
      part.sequence = 256;
      part.keys = 1024;
      EXPECT_DOUBLE_EQ(4 * part.flops(backward), whole.flops(backward));
      const auto read = [&](const Attention& a) {
        Bench b{GpuSpec{}};
        b.list.add(a, attention_tensors(b.core.addresses(), a), backward);
        b.run();
        // In backward every rank holds each key and each value once.
        return b.traffic().l2_read - (backward ? 2u * 2 * 1024 * 4 * 64 * 2 : 0);
      };
      EXPECT_EQ(4 * read(part), read(whole)) << causal << backward;
    }
  }
}

struct Flag final : sim::Handler {
  void handle(std::uint32_t) override { ++count; }
  int count = 0;
};

TEST(CopyEngine, CopiesEveryByteAtItsRate) {
  Bench b{GpuSpec{}};
  CopyEngine engine(b.spec, b.events, b.core.memory());
  Flag done;
  const sim::Bytes n{(64 << 20) + 100};
  const auto from = b.core.addresses().buffer(n);
  engine.copy(from, b.core.addresses().buffer(n), n, done, 0);
  EXPECT_FALSE(engine.idle());
  b.events.run();
  EXPECT_TRUE(engine.idle());
  EXPECT_EQ(done.count, 1);
  EXPECT_EQ(b.traffic(Actor::kCopy).l2_read, static_cast<std::uint64_t>(n.count()));
  EXPECT_EQ(b.traffic(Actor::kCopy).l2_written, static_cast<std::uint64_t>(n.count()));
  const double gbps = static_cast<double>(n.count()) / b.events.now().in_s() * 1e-9;
  EXPECT_LE(gbps, b.spec.copy.rate.in_gbps());
  EXPECT_GT(gbps, 100);
}

TEST(Attention, WithTheFutureHiddenTakesAboutHalf) {
  for (const bool backward : {false, true}) {
    sim::Time took[2];
    double flops[2];
    for (const bool causal : {false, true}) {
      Bench b(GpuSpec{});
      const Attention a{.batch = 4, .sequence = 2048, .heads = 16, .head_size = 64, .causal = causal};
      b.list.add(a, attention_tensors(b.core.addresses(), a), backward);
      took[causal ? 1 : 0] = b.run();
      flops[causal ? 1 : 0] = b.list.flops();
    }
    EXPECT_NEAR(flops[1] / flops[0], 0.5, 0.001);
    // 16 tiles a sequence: the diagonal is computed whole.
    EXPECT_NEAR(took[1].in_us() / took[0].in_us(), 17.0 / 32, 0.08);
  }
}

}  // namespace
}  // namespace infold::gpu
