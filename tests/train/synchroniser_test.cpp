// What is reduced together, and when.
#include "train/synchroniser.h"

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

namespace infold::train {
namespace {

std::vector<sim::Bytes> mib(std::initializer_list<int> sizes) {
  std::vector<sim::Bytes> out;
  for (const int s : sizes) out.push_back(sim::Bytes::mib(s));
  return out;
}
/// The last parameter first, one a millisecond.
std::vector<ReadyGradient> in_reverse(std::size_t n) {
  std::vector<ReadyGradient> out;
  for (std::size_t i = n; i-- > 0;)
    out.push_back({static_cast<int>(i), sim::Time::us(1000) * static_cast<std::int64_t>(n - i)});
  return out;
}
std::vector<Reduction> run(const SyncSpec& spec, const std::vector<sim::Bytes>& sizes, bool after = false) {
  const auto sync = make_synchroniser(spec, sizes);
  return decide(*sync, in_reverse(sizes.size()), after);
}
std::vector<std::vector<int>> groups(const std::vector<Reduction>& reductions) {
  std::vector<std::vector<int>> out;
  for (const auto& r : reductions) out.push_back(r.bucket.parameters);
  return out;
}
using Groups = std::vector<std::vector<int>>;

TEST(Ddp, FillsTheFirstBucketWithOneAndOthersWithTwentyFiveMegabytes) {
  const auto r = run({}, mib({10, 20, 30, 5, 2, 1}));
  EXPECT_EQ(groups(r), (Groups{{5}, {4, 3, 2}, {1, 0}}));
  EXPECT_EQ(r[1].bucket.bytes, 37_MiB);
  EXPECT_EQ(r[0].may_start, sim::Time::us(1000));
  EXPECT_EQ(r[1].may_start, sim::Time::us(4000));
  EXPECT_EQ(r[2].may_start, sim::Time::us(6000));
  EXPECT_TRUE(r[0].bucket.copied);
}

TEST(Ddp, AsViewCopiesNothing) {
  SyncSpec spec;
  spec.gradient_as_view = true;
  for (const auto& r : run(spec, mib({30, 30, 30}))) EXPECT_FALSE(r.bucket.copied);
}

TEST(Ddp, ABucketWaitsForThoseBeforeIt) {
  const auto sizes = mib({30, 30, 30});
  const auto sync = make_synchroniser({}, sizes);
  const std::vector<ReadyGradient> order = {{0, 1_us}, {1, 2_us}, {2, 3_us}};
  const auto r = decide(*sync, order, false);
  EXPECT_EQ(groups(r), (Groups{{2}, {1}, {0}}));
  for (const auto& x : r) EXPECT_EQ(x.may_start, 3_us);
}

TEST(Horovod, FusesWhatACycleFinds) {
  SyncSpec spec;
  spec.kind = SyncKind::kHorovod;
  spec.cycle = sim::Time::us(2500);
  spec.fusion = 64_MiB;
  const auto r = run(spec, mib({40, 30, 30, 5, 2, 1}));
  // Ready at 1, 2 | 3, 4, 5 | 6 ms.
  EXPECT_EQ(groups(r), (Groups{{5, 4}, {3, 2}, {1}, {0}}));
  EXPECT_EQ(r[0].may_start, sim::Time::us(2500));
  EXPECT_EQ(r[1].may_start, sim::Time::us(5000));
  EXPECT_EQ(r[2].may_start, sim::Time::us(5000));
  EXPECT_EQ(r[3].may_start, sim::Time::us(7500));
}

TEST(Horovod, AFullBufferGoesAndTheRestFollowsAtOnce) {
  SyncSpec spec;
  spec.kind = SyncKind::kHorovod;
  spec.cycle = sim::Time::us(10'000);
  spec.fusion = 64_MiB;
  const auto r = run(spec, mib({40, 30, 30, 5}));
  EXPECT_EQ(groups(r), (Groups{{3, 2}, {1}, {0}}));
  for (const auto& x : r) EXPECT_EQ(x.may_start, sim::Time::us(10'000));
  EXPECT_EQ(r[0].bucket.bytes, 35_MiB);
  EXPECT_TRUE(r[0].bucket.copied);
  EXPECT_FALSE(r[1].bucket.copied);
}

TEST(Tensorflow, PacksEverythingIntoOneAfterTheLast) {
  SyncSpec spec;
  spec.kind = SyncKind::kTensorflow;
  const auto r = run(spec, mib({10, 20, 30}));
  EXPECT_EQ(groups(r), (Groups{{0, 1, 2}}));
  EXPECT_EQ(r[0].may_start, sim::Time::us(3000));
  spec.packs = 2;
  EXPECT_EQ(groups(run(spec, mib({10, 20, 30}))), (Groups{{0, 1}, {2}}));
}

TEST(PerTensor, SendsEachAtOnce) {
  SyncSpec spec;
  spec.kind = SyncKind::kPerTensor;
  const auto r = run(spec, mib({10, 20, 30}));
  EXPECT_EQ(groups(r), (Groups{{2}, {1}, {0}}));
  EXPECT_EQ(r[1].may_start, sim::Time::us(2000));
}

TEST(AnySynchroniser, AfterBackwardNothingStartsEarlier) {
  for (const auto& r : run({}, mib({30, 30, 30}), true)) EXPECT_EQ(r.may_start, sim::Time::us(3000));
}

RC_GTEST_PROP(AnySynchroniser, ReducesEveryGradientOnceAndNotBeforeItIsThere, ()) {
  SyncSpec spec;
  spec.kind =
      *rc::gen::element(SyncKind::kDdp, SyncKind::kHorovod, SyncKind::kTensorflow, SyncKind::kPerTensor);
  spec.bucket = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.first_bucket = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.fusion = sim::Bytes{*rc::gen::inRange(1, 100'000)};
  spec.cycle = sim::Time::us(*rc::gen::inRange(1, 1000));
  spec.packs = *rc::gen::inRange(1, 5);
  std::vector<sim::Bytes> sizes;
  for (const int s : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 50'000)))
    sizes.emplace_back(s);
  std::vector<int> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  order = *rc::gen::exec([&] {
    auto left = order;
    for (std::size_t i = left.size(); i > 1; --i)
      std::swap(left[i - 1], left[static_cast<std::size_t>(*rc::gen::inRange<int>(0, static_cast<int>(i)))]);
    return left;
  });
  std::vector<ReadyGradient> gradients;
  std::vector<sim::Time> at(sizes.size());
  sim::Time now;
  for (const int p : order) {
    now += sim::Time::us(*rc::gen::inRange(0, 500));
    at[static_cast<std::size_t>(p)] = now;
    gradients.push_back({p, now});
  }
  const bool after = *rc::gen::arbitrary<bool>();
  const auto sync = make_synchroniser(spec, sizes);
  const auto reductions = decide(*sync, gradients, after);
  std::vector<int> seen(sizes.size());
  sim::Time before;
  for (const Reduction& r : reductions) {
    RC_ASSERT(!r.bucket.parameters.empty());
    RC_ASSERT(before <= r.may_start);
    before = r.may_start;
    sim::Bytes bytes;
    for (const int p : r.bucket.parameters) {
      ++seen[static_cast<std::size_t>(p)];
      bytes += sizes[static_cast<std::size_t>(p)];
      RC_ASSERT(at[static_cast<std::size_t>(p)] <= r.may_start);
      if (after) RC_ASSERT(now <= r.may_start);
    }
    RC_ASSERT(bytes == r.bucket.bytes);
    if (spec.kind == SyncKind::kHorovod && r.bucket.parameters.size() > 1) RC_ASSERT(bytes <= spec.fusion);
    if (spec.kind == SyncKind::kHorovod && !after)
      RC_ASSERT(r.may_start.count_ps() % spec.cycle.count_ps() == 0);
  }
  for (const int n : seen) RC_ASSERT(n == 1);
}

}  // namespace
}  // namespace infold::train
