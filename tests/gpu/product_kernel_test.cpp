// Matrix products and convolutions: what they move, how they are cut, what shapes their time.
#include "gpu/kernel/product_kernel.h"

#include "gpu/sm/sm.h"
#include "kernel_help.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;
using help::Bench;
using help::product;

const TilePlan kPlan{.m = 128, .n = 128, .k = 64, .stages = 2, .split = 1};

TEST(ProductKernel, ReadsEachTilesOperandsAndWritesTheResultOnce) {
  Bench b{GpuSpec{}};
  b.list.add(product(b, 512, 256, 1024), kPlan);
  b.run();
  EXPECT_EQ(b.traffic().l2_read, (4u * 2) * (128 + 128) * 1024 * 2) << "8 tiles";
  EXPECT_EQ(b.traffic().l2_written, 512u * 256 * 2);
  EXPECT_EQ(b.traffic().hbm_read, (512u + 256) * 1024 * 2) << "everything is fetched once, then reused in L2";
  EXPECT_EQ(b.list[0].grid(), 8);
  EXPECT_DOUBLE_EQ(b.list.flops(), 2.0 * 512 * 256 * 1024);
}

/// Three products in one kernel, each tensor with the rows of all of them.
Product grouped(Bench& b, Operand::Kind left, Operand::Kind right, const Tensor& x, const Tensor& y) {
  const auto rows = Operand::Kind::kRows;
  Product p;
  p.groups = 3;
  p.m = left == rows ? x.rows() / 3 : x.cols();
  p.k = left == rows ? x.cols() : x.rows() / 3;
  p.n = right == rows ? y.rows() / 3 : y.cols();
  p.left = {left, x};
  p.right = {right, y};
  p.out = b.tensor(3 * p.m, p.n);
  p.input = x.bytes() + y.bytes();
  return p;
}

TEST(ProductKernel, GroupsTouchEveryRowOfTheirTensorsOnceHoweverTheyLie) {
  constexpr auto kRows = Operand::Kind::kRows;
  constexpr auto kCols = Operand::Kind::kCols;
  for (const auto& [left, right] :
       {std::pair(kRows, kRows), std::pair(kRows, kCols), std::pair(kCols, kCols)}) {
    Bench b{GpuSpec{}};
    // Of each group: 128 x 64 times 64 x 128.
    const Tensor x = left == kRows ? b.tensor(3 * 128, 64) : b.tensor(3 * 64, 128);
    const Tensor y = right == kRows ? b.tensor(3 * 128, 64) : b.tensor(3 * 64, 128);
    b.list.add(grouped(b, left, right, x, y), kPlan);
    b.run();
    EXPECT_EQ(b.list[0].grid(), 3);
    EXPECT_EQ(b.traffic().l2_read, 3u * 256 * 64 * 2);
    EXPECT_EQ(b.traffic().hbm_read, 3u * 256 * 64 * 2) << "no group reads what another one reads";
    EXPECT_EQ(b.traffic().l2_written, 3u * 128 * 128 * 2);
  }
}

TEST(ProductKernel, SplitGroupsAddUpTheirOwnParts) {
  Bench b{GpuSpec{}};
  TilePlan plan = kPlan;
  plan.split = 2;
  constexpr auto kRows = Operand::Kind::kRows;
  b.list.add(grouped(b, kRows, kRows, b.tensor(3 * 128, 1024), b.tensor(3 * 128, 1024)), plan);
  b.run();
  EXPECT_EQ(b.list[0].grid(), 6);
  EXPECT_EQ(b.traffic().l2_read, 3u * (256 * 1024 * 2 + 128 * 128 * 2 * 4));
  EXPECT_EQ(b.traffic().l2_written, 3u * 128 * 128 * (2 * 4 + 2));
}

TEST(ProductKernel, EightBitsTakeHalfTheTimeAndBytesAndGiveSixteen) {
  GpuSpec spec;
  spec.sm.matrix8 = 2 * spec.sm.matrix16;
  Bench wide(spec);
  wide.list.add(product(wide, 4096, 4096, 4096));
  Bench narrow(spec);
  narrow.list.add(matrix_product(narrow.tensor(4096, 4096, 1), narrow.tensor(4096, 4096, 1),
                                 narrow.tensor(4096, 4096), Precision::kFp8));
  const double ratio = narrow.run().in_us() / wide.run().in_us();
  EXPECT_GT(ratio, 0.48);
  EXPECT_LT(ratio, 0.62);
  EXPECT_LT(narrow.traffic().hbm_read, wide.traffic().hbm_read * 6 / 10);
  EXPECT_EQ(narrow.traffic().l2_written, 4096u * 4096 * 2);
}

TEST(ProductKernel, EdgesAreNotRoundedUp) {
  Bench b{GpuSpec{}};
  b.list.add(product(b, 200, 72, 100), kPlan);
  b.run();
  EXPECT_EQ(b.traffic().l2_read, (200u + 2 * 72) * 100 * 2);
  EXPECT_EQ(b.traffic().l2_written, 200u * 72 * 2);
}

TEST(ProductKernel, ASplitOneLeavesPartialSumsThatAreThenAddedUp) {
  Bench b{GpuSpec{}};
  TilePlan plan = kPlan;
  plan.split = 4;
  b.list.add(product(b, 128, 128, 4096), plan);
  b.run();
  ASSERT_EQ(b.list.size(), 2u);
  EXPECT_EQ(b.traffic().l2_written, 128u * 128 * (4 * 4 + 2));
  EXPECT_EQ(b.traffic().l2_read, 256u * 4096 * 2 + 128 * 128 * 4 * 4);
}

TEST(ProductKernel, OneMoreWorkgroupThanFitsCostsAnotherWave) {
  GpuSpec spec;
  spec.sm.cluster = 1;
  const std::int64_t one_wave = spec.sms * workgroups_per_sm(spec.sm, kPlan.footprint(Precision::kFp16));
  Bench full(spec);
  full.list.add(product(full, 128 * one_wave, 128, 2048), kPlan);
  const sim::Time one = full.run();
  Bench more(spec);
  more.list.add(product(more, 128 * (one_wave + 1), 128, 2048), kPlan);
  const sim::Time two = more.run();
  EXPECT_EQ(full.list[0].waves(), 1);
  EXPECT_EQ(more.list[0].waves(), 2);
  EXPECT_GT(two, one * 5 / 4) << "alone on its SM it is faster than a pair";
  EXPECT_LT(two, one * 2);
}

TEST(ProductKernel, TwoOnAnSmFillEachOthersGaps) {
  GpuSpec spec;
  spec.sms = 1;
  Bench lone(spec);
  lone.list.add(product(lone, 128, 128, 8192), kPlan);
  const sim::Time one = lone.run();
  Bench pair(spec);
  pair.list.add(product(pair, 256, 128, 8192), kPlan);
  EXPECT_LT(pair.run(), one * 2 - clocks(128 * spec.sm.slab_sync, spec.sm.matrix_clock));
}

TEST(ProductKernel, AClusterSharesLoads) {
  GpuSpec spec;
  Bench apart(spec);
  apart.list.add(product(apart, 512, 256, 1024), kPlan);
  apart.run();
  spec.sm.cluster = 2;
  Bench together(spec);
  together.list.add(product(together, 512, 256, 1024), kPlan);
  together.run();
  EXPECT_EQ(together.traffic().l2_read, apart.traffic().l2_read * 3 / 4) << "half of the right operand's";
}

TEST(ProductKernel, AFilterOfOnePixelIsAMatrixProduct) {
  const Conv conv{.batch = 4, .height = 16, .width = 16, .channels = 256, .filters = 128};
  Bench c{GpuSpec{}};
  c.list.add(conv_forward(conv, conv_tensors(c.core.addresses(), conv, Precision::kFp16), Precision::kFp16),
             kPlan);
  c.run();
  Bench g{GpuSpec{}};
  g.list.add(product(g, 1024, 128, 256), kPlan);
  g.run();
  EXPECT_DOUBLE_EQ(c.list.flops(), g.list.flops());
  EXPECT_EQ(c.traffic().l2_read, g.traffic().l2_read);
  EXPECT_EQ(c.traffic().hbm_read, g.traffic().hbm_read);
}

TEST(ProductKernel, TapsOfAFilterReuseTheImage) {
  const Conv conv{.batch = 8, .height = 28, .width = 28, .channels = 64, .filters = 64, .size = 3};
  Bench b{GpuSpec{}};
  const auto t = conv_tensors(b.core.addresses(), conv, Precision::kFp16);
  b.list.add(conv_forward(conv, t, Precision::kFp16));
  b.run();
  EXPECT_EQ(b.traffic().hbm_read, static_cast<std::uint64_t>((t.in.bytes() + t.filter.bytes()).count()));
  EXPECT_GT(b.traffic().l2_read, 8 * static_cast<std::uint64_t>(t.in.bytes().count()));
}

TEST(ProductKernel, PixelsThatAStrideSkipsAreNotFetched) {
  const Conv conv{
      .batch = 8, .height = 28, .width = 28, .channels = 64, .filters = 64, .size = 1, .stride = 2};
  Bench b{GpuSpec{}};
  const auto t = conv_tensors(b.core.addresses(), conv, Precision::kFp16);
  b.list.add(conv_forward(conv, t, Precision::kFp16));
  b.run();
  EXPECT_EQ(b.traffic().hbm_read, static_cast<std::uint64_t>((t.in.bytes() / 4 + t.filter.bytes()).count()));
}

TEST(ProductKernel, GradientsWriteWhatTheyAreGradientsOf) {
  const Conv conv{
      .batch = 8, .height = 28, .width = 28, .channels = 64, .filters = 128, .size = 3, .stride = 2};
  Bench data{GpuSpec{}};
  const auto t = conv_tensors(data.core.addresses(), conv, Precision::kFp16);
  data.list.add(conv_data_gradient(conv, t, Precision::kFp16), kPlan);
  data.run();
  EXPECT_EQ(data.traffic().l2_written, static_cast<std::uint64_t>(t.in.bytes().count()));
  Bench filter{GpuSpec{}};
  const auto u = conv_tensors(filter.core.addresses(), conv, Precision::kFp16);
  filter.list.add(conv_filter_gradient(conv, u, Precision::kFp16), kPlan);
  filter.run();
  EXPECT_EQ(filter.traffic().l2_written, static_cast<std::uint64_t>(u.filter.bytes().count()));
  EXPECT_EQ(filter.traffic().hbm_read, static_cast<std::uint64_t>((u.in.bytes() + u.out.bytes()).count()));
}

TEST(TilePlan, TheChosenOneIsNearTheBestThatSimulationFinds) {
  struct Shape {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Shape{1024, 1024, 1024}, Shape{2048, 2048, 2048}, Shape{4096, 512, 1024},
                                Shape{64, 576, 25088}, Shape{3000, 1000, 500}}) {
    Bench chosen{GpuSpec{}};
    chosen.list.add(product(chosen, m, n, k));
    const sim::Time time = chosen.run();
    for (const int tm : {64, 128, 256}) {
      for (const int tn : {64, 128}) {
        Bench other{GpuSpec{}};
        const Product p = product(other, m, n, k);
        other.list.add(p, *choose_stages(other.spec, other.spec.sms, p, tm, tn));
        EXPECT_LE(time, other.run() * 5 / 4)
            << m << " x " << n << " x " << k << " with " << tm << " x " << tn;
      }
    }
  }
}

TEST(TilePlan, WhatDoesNotFitAnSmIsNotChosen) {
  GpuSpec spec;
  spec.sm.shared_memory = 20_KiB;
  Bench b(spec);
  const TilePlan plan = b.list.add(product(b, 4096, 4096, 64));
  EXPECT_GE(workgroups_per_sm(spec.sm, plan.footprint(Precision::kFp16)), 1);
  EXPECT_FALSE(choose_stages(spec, spec.sms, product(b, 64, 64, 64), 512, 512));
}

}  // namespace
}  // namespace infold::gpu
