// Random numbers: the same on every machine, within bounds, and not obviously poor.
#include "sim/random.h"

#include <set>

namespace infold::sim {
namespace {

TEST(Random, IsSplitMix64) {
  EXPECT_EQ(mix(0), 0xe220a8397b1dcdafULL);
  EXPECT_EQ(Random(0).next(), 0xe220a8397b1dcdafULL);
}

TEST(Random, TheSameSeedGivesTheSameNumbers) {
  Random a(42);
  Random b(42);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next(), b.next());
}

TEST(Random, NumbersDoNotRepeatSoon) {
  Random random(7);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 10'000; ++i) seen.insert(random.next());
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(Random, BelowUsesTheWholeRangeEvenly) {
  Random random(3);
  std::vector<int> count(10);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t n = random.below(10);
    ASSERT_LT(n, 10u);
    ++count[n];
  }
  for (int c : count) EXPECT_NEAR(c, 1'000, 150);
}

TEST(Random, BelowOneIsZero) {
  EXPECT_EQ(Random(9).below(1), 0u);
}

}  // namespace
}  // namespace infold::sim
