// Credits on their way back: lots are full when the tails of packets leave, however early and in whatever
// order the outputs of a chip tell of them.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "net/packet/credits.h"
#include "sim/random.h"

namespace infold::net {
namespace {

constexpr sim::Bytes kLot{100};

sim::Time ns(std::int64_t n) {
  return sim::Time::ps(1000 * n);
}

/// As a link tells of room.
void tell(ReturningCredits& credits, sim::Bytes n, sim::Time at, sim::Time now) {
  if (credits.is_full()) credits.make_room(now);
  credits.add(n, at);
}

TEST(ReturningCredits, ALotIsFullWithThePacketThatFillsIt) {
  ReturningCredits credits(kLot, {});
  tell(credits, sim::Bytes{60}, ns(5), ns(0));
  EXPECT_EQ(credits.next(), sim::Time::never());
  tell(credits, sim::Bytes{60}, ns(9), ns(0));
  EXPECT_EQ(credits.next(), ns(9));
  EXPECT_EQ(credits.collect(ns(8)), sim::Bytes{0});
  EXPECT_EQ(credits.collect(ns(9)), sim::Bytes{120});
  EXPECT_EQ(credits.total(), sim::Bytes{0});
}

TEST(ReturningCredits, WhatIsToldLateMayFillALotSooner) {
  ReturningCredits credits(kLot, {});
  tell(credits, sim::Bytes{60}, ns(5), ns(0));
  tell(credits, sim::Bytes{60}, ns(9), ns(0));
  EXPECT_EQ(credits.next(), ns(9));
  tell(credits, sim::Bytes{40}, ns(7), ns(1));
  EXPECT_TRUE(credits.is_sooner());
  EXPECT_EQ(credits.next(), ns(7));
  EXPECT_EQ(credits.collect(ns(9)), sim::Bytes{100});
  EXPECT_EQ(credits.total(), sim::Bytes{60}) << "what came behind it is short of a lot now";
}

TEST(ReturningCredits, WhatIsFreeAtTheSameTimeIsOneLot) {
  ReturningCredits credits(kLot, {});
  tell(credits, sim::Bytes{60}, ns(5), ns(0));
  for (int i = 0; i < 3; ++i) tell(credits, sim::Bytes{70}, ns(6), ns(0));
  EXPECT_EQ(credits.collect(ns(6)), sim::Bytes{270});
}

/// The same, reckoned anew from everything that was ever told.
class Ledger {
 public:
  void add(std::int64_t n, sim::Time at) { bytes_[at] += n; }
  std::int64_t collect(sim::Time at) {
    std::int64_t lots = 0;
    std::int64_t gathered = 0;
    for (const auto& [time, bytes] : bytes_) {
      if (time > at) break;
      gathered += bytes;
      if (gathered < kLot.count()) continue;
      lots += gathered;
      gathered = 0;
    }
    return lots - std::exchange(collected_, lots);
  }
  std::optional<sim::Time> next(sim::Time after) const {
    std::int64_t gathered = 0;
    for (const auto& [time, bytes] : bytes_) {
      gathered += bytes;
      if (gathered < kLot.count()) continue;
      if (time > after) return time;
      gathered = 0;
    }
    return std::nullopt;
  }

 private:
  std::map<sim::Time, std::int64_t> bytes_;
  std::int64_t collected_ = 0;
};

TEST(ReturningCredits, AgreeWithALedgerOfEverything) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    sim::Random random(seed);
    const sim::Time lateness = ns(static_cast<std::int64_t>(random.below(3)) * 4);
    const auto ahead = static_cast<std::int64_t>(1 + random.below(60));
    ReturningCredits credits(kLot, lateness);
    Ledger ledger;
    sim::Time now = ns(20);
    for (int i = 0; i < 400; ++i) {
      now = now + ns(static_cast<std::int64_t>(random.below(3)));
      const auto bytes = static_cast<std::int64_t>(10 + random.below(50));
      const sim::Time at =
          now - lateness + ns(static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(ahead + 1))));
      tell(credits, sim::Bytes{bytes}, at, now);
      ledger.add(bytes, at);
      if (random.below(4) != 0) continue;
      const sim::Time known = now - lateness - ns(1);  // a latency before now, by which everything is told
      ASSERT_EQ(credits.collect(known).count(), ledger.collect(known)) << "seed " << seed << ", " << i;
      ASSERT_EQ(credits.next(), ledger.next(known).value_or(sim::Time::never())) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace infold::net
