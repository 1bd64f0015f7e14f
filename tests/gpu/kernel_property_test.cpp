// What holds for any kernel: less hardware never helps, bytes add up, the same again gives the same.
#include "kernel_help.h"
#include "sim/random.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;
using help::Bench;

/// Some kernel, everything drawn from the seed.
void add_some(Bench& b, std::uint64_t seed) {
  sim::Random random(seed);
  const auto some = [&](std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most - least + 1)));
  };
  switch (random.below(4)) {
    case 0: {
      // The tile is fixed, because another GPU might be given another one.
      const TilePlan plan{.m = 128, .n = 128, .k = 32, .stages = 2, .split = 1};
      b.list.add(help::product(b, some(100, 3000), some(100, 3000), some(64, 2000)), plan);
      break;
    }
    case 1: {
      const Conv conv{.batch = some(1, 16),
                      .height = some(7, 40),
                      .width = some(7, 40),
                      .channels = some(3, 200),
                      .filters = some(16, 200),
                      .size = 3,
                      .stride = some(1, 2)};
      const TilePlan plan{.m = 64, .n = 64, .k = 32, .stages = 3, .split = 1};
      b.list.add(
          conv_forward(conv, conv_tensors(b.core.addresses(), conv, Precision::kFp16), Precision::kFp16),
          plan);
      break;
    }
    case 2: {
      const Tensor x = b.tensor(some(1000, 200'000), some(16, 300));
      const auto like = [&] { return b.tensor(x.rows(), x.cols()); };
      b.list.batch_norm_backward(x, like(), like(),
                                 random.below(2) == 0 ? Residency::kAny : Residency::kTogether);
      break;
    }
    default: {
      const Attention a{
          .batch = some(1, 4), .sequence = some(100, 1500), .heads = some(1, 8), .head_size = 64};
      b.list.add(a, attention_tensors(b.core.addresses(), a), random.below(2) == 0);
    }
  }
}

sim::Time time_of(const GpuSpec& spec, std::uint64_t seed) {
  Bench b(spec);
  add_some(b, seed);
  return b.run();
}

constexpr std::uint64_t kSeeds = 30;

/// Queues can be unlucky: an access that comes earlier may stand behind a drain of writes that it would have
/// missed. So a hundredth is allowed for.
void expect_not_faster(const GpuSpec& less, const GpuSpec& more, const char* what) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_GE(time_of(less, seed) * 101 / 100, time_of(more, seed)) << what << ", seed " << seed;
  }
}

TEST(KernelProperty, FewerSmsNeverHelp) {
  GpuSpec less;
  less.sms = 64;
  expect_not_faster(less, GpuSpec{}, "SMs");
}

TEST(KernelProperty, DoublingTheMemoryRateNeverHurts) {
  GpuSpec more;
  more.hbm.bandwidth = more.hbm.bandwidth * 2;
  expect_not_faster(GpuSpec{}, more, "HBM");
}

TEST(KernelProperty, ASmallerOrSlowerL2NeverHelps) {
  GpuSpec small;
  small.l2.capacity = small.l2.capacity / 4;
  expect_not_faster(small, GpuSpec{}, "L2 capacity");
  GpuSpec slow;
  slow.l2.slices /= 4;
  expect_not_faster(slow, GpuSpec{}, "L2 rate");
}

TEST(KernelProperty, ASlowerClockNeverHelps) {
  GpuSpec slow;
  slow.clock = 900_MHz;
  slow.sm.matrix_clock = 900_MHz;
  expect_not_faster(slow, GpuSpec{}, "clock");
}

TEST(KernelProperty, TheSameAgainGivesTheSame) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(time_of(GpuSpec{}, seed), time_of(GpuSpec{}, seed)) << seed;
  }
}

TEST(KernelProperty, BytesAndTimesOfActorsAddUp) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    Bench b{GpuSpec{}};
    add_some(b, seed);
    const sim::Time took = b.run();
    const Traffic all = b.core.memory().traffic().total();
    EXPECT_EQ(all.hbm_read, b.core.memory().hbm_read_bytes());
    EXPECT_EQ(all.hbm_written, b.core.memory().hbm_written_bytes());
    // A block written twice before it leaves is written back once.
    EXPECT_LE(all.hbm_written + b.core.memory().unwritten(), all.l2_written);
    EXPECT_LE(all.hbm_read, all.l2_read * 2) << "whole blocks may be fetched for their parts";
    EXPECT_LE(b.core.dispatcher().sm_time().total(), took * b.spec.sms);
    EXPECT_GT(b.core.dispatcher().sm_time()[Actor::kCompute], sim::Time{});
  }
}

/// Somebody else, busy in memory all the time.
class Noise final : public sim::Handler {
 public:
  explicit Noise(Bench& b) : b_(b) {}
  void handle(std::uint32_t i) override {
    const sim::Time now = b_.events.now();
    const Block block{(std::uint64_t{1} << 40) + i, 8192};
    b_.core.memory().read(Actor::kCollective, block, now);
    b_.core.memory().write(Actor::kCopy, {block.key + (1 << 30), 8192}, now);
    if (i < 20'000) b_.events.schedule(now + 5_ns, sim::Priority::kWork, *this, i + 1);
  }

 private:
  Bench& b_;
};

sim::Time time_beside_noise(std::uint64_t seed, const Contention& contention) {
  Bench b(GpuSpec{}, {.contention = contention});
  Noise noise(b);
  b.events.schedule(0_ns, sim::Priority::kArrive, noise, 0);
  add_some(b, seed);
  b.run();
  return b.list[b.list.size() - 1].ended_at();
}

TEST(KernelProperty, WithoutSharingNobodyNoticesTheOthers) {
  int slower = 0;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const sim::Time alone = time_of(GpuSpec{}, seed);
    EXPECT_EQ(time_beside_noise(seed, {.sm = false, .l2 = false, .hbm = false, .link = false}), alone)
        << seed;
    if (time_beside_noise(seed, {}) > alone) ++slower;
  }
  EXPECT_GT(slower, 20) << "with sharing most do";
}

}  // namespace
}  // namespace infold::gpu
