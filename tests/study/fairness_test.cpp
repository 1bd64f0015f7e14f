// What the ends of collectives that ran at once say about their shares.
#include "study/collective/fairness.h"

#include <gtest/gtest.h>

namespace infold::study {
namespace {

TEST(Fairness, IsOneForEqualEndsAndForOneAlone) {
  EXPECT_EQ(fairness_of({}).least, 1);
  EXPECT_EQ(fairness_of({sim::Time::us(3)}).jain, 1);
  const Fairness even = fairness_of({sim::Time::us(7), sim::Time::us(7), sim::Time::us(7)});
  EXPECT_DOUBLE_EQ(even.least, 1);
  EXPECT_DOUBLE_EQ(even.jain, 1);
}

TEST(Fairness, OfWhoEndsLastIsWhatItHadWhenTheFirstEnded) {
  // Given one that had three fifths of the machine: it ends after 5 of 6 units, and the other had 2 of its 3.
  const Fairness f = fairness_of({sim::Time::us(6), sim::Time::us(5)});
  EXPECT_NEAR(f.least, 2.0 / 3, 1e-12);
  EXPECT_LT(f.jain, 1);
}

TEST(Fairness, OfOneAfterTheOtherIsNothing) {
  EXPECT_NEAR(fairness_of({sim::Time::us(5), sim::Time::us(10)}).least, 0, 1e-12);
  EXPECT_NEAR(fairness_of({sim::Time::us(1), sim::Time::us(9), sim::Time::us(10)}).least, 0, 1e-12);
}

TEST(Fairness, SaysHowMuchLaterTheLastEnded) {
  EXPECT_NEAR(fairness_of({sim::Time::us(8), sim::Time::us(10), sim::Time::us(9)}).last_after_first, 0.25,
              1e-12);
  EXPECT_EQ(fairness_of({sim::Time::us(8)}).last_after_first, 0);
}

}  // namespace
}  // namespace infold::study
