// Units: literals say what they mean, and a pace rounds each time once and never drifts.
#include "sim/units.h"

#include <rapidcheck.h>

namespace infold::sim {
namespace {

using namespace literals;

TEST(Units, LiteralsSayWhatTheyMean) {
  EXPECT_EQ(3_ns, Time::ps(3'000));
  EXPECT_EQ(3_us, Time::ps(3'000'000));
  EXPECT_EQ(7_ps, Time::ps(7));
  EXPECT_EQ(2_KiB, Bytes{2'048});
  EXPECT_EQ(2_MiB, Bytes{2 * 1'048'576});
  EXPECT_EQ(2_GiB, Bytes{2 * std::int64_t{1'073'741'824}});
  EXPECT_EQ(25_GBps, Bandwidth::bytes_per_s(25'000'000'000));
  EXPECT_EQ(1410_MHz, Frequency::hz(1'410'000'000));
}

TEST(Units, TimesConvertForPeople) {
  EXPECT_DOUBLE_EQ((1'500'000_ps).in_us(), 1.5);
  EXPECT_DOUBLE_EQ((2'000'000_us).in_s(), 2.0);
  EXPECT_DOUBLE_EQ((25_GBps).in_gbps(), 25.0);
}

TEST(Units, NeverIsLaterThanAnyRunAndCanBeAddedTo) {
  const Time a_day = Time::us(std::int64_t{24} * 3600 * 1'000'000);
  EXPECT_GT(Time::never(), a_day);
  EXPECT_GT(Time::never() + a_day, Time::never());
}

TEST(Units, LargestAndSmallest) {
  EXPECT_EQ(max(1_ns, 2_ns), 2_ns);
  EXPECT_EQ(min(1_ns, 2_ns), 1_ns);
  EXPECT_EQ(max(1_B, 2_B), 2_B);
  EXPECT_EQ(min(1_B, 2_B), 1_B);
}

TEST(Pace, IsExactWhereAByteTakesWholePicoseconds) {
  const Pace pace(25_GBps);
  EXPECT_EQ(pace.time(0_B), 0_ps);
  EXPECT_EQ(pace.time(1_B), 40_ps);
  EXPECT_EQ(pace.time(144_B), 5'760_ps);
  EXPECT_EQ(pace.time(1_GiB), 40_ps * (std::int64_t{1} << 30));
}

TEST(Pace, RoundsToTheNearestPicosecond) {
  const Pace pace(3_GBps);
  EXPECT_EQ(pace.time(1_B), 333_ps);
  EXPECT_EQ(pace.time(2_B), 667_ps);
  EXPECT_EQ(pace.time(3_B), 1'000_ps);
}

TEST(Pace, SpansTheRatesAUserMayWrite) {
  EXPECT_EQ(Pace(Bandwidth::bytes_per_s(1'000'000)).time(1_B), 1_us);
  EXPECT_EQ(Pace(100'000_GBps).time(1_KiB), 10_ps);  // 10.24
}

// The error of a long transfer is that of the rounded rate, not a rounding a byte.
TEST(Pace, DoesNotDrift) {
  EXPECT_TRUE(rc::check([] {
    const std::int64_t rate = *rc::gen::inRange<std::int64_t>(1'000'000, 4'000'000'000'000);
    const std::int64_t bytes = *rc::gen::inRange<std::int64_t>(0, std::int64_t{1} << 33);
    const long double exact = static_cast<long double>(bytes) * 1e12L / static_cast<long double>(rate);
    const long double bound = 0.51L + static_cast<long double>(bytes) / (1 << 25);
    const Time got = Pace(Bandwidth::bytes_per_s(rate)).time(Bytes{bytes});
    RC_ASSERT(static_cast<long double>(got.count_ps()) <= exact + bound);
    RC_ASSERT(static_cast<long double>(got.count_ps()) >= exact - bound);
  }));
}

TEST(Pace, PiecesTakeAsLongAsTheWholeGiveOrTakeAPicosecondEach) {
  EXPECT_TRUE(rc::check([] {
    const Pace pace(Bandwidth::bytes_per_s(*rc::gen::inRange<std::int64_t>(1'000'000, 4'000'000'000'000)));
    const std::int64_t piece = *rc::gen::inRange<std::int64_t>(1, 5'000);
    const std::int64_t pieces = *rc::gen::inRange<std::int64_t>(1, 2'000);
    const Time apart = pace.time(Bytes{piece}) * pieces;
    const Time whole = pace.time(Bytes{piece * pieces});
    RC_ASSERT(apart - whole <= Time::ps(pieces));
    RC_ASSERT(whole - apart <= Time::ps(pieces));
  }));
}

}  // namespace
}  // namespace infold::sim
