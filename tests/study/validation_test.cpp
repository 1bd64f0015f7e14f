// The comparison with a published figure.
#include "study/validation.h"

#include <cmath>

namespace infold::study {
namespace {

ValidationRow row(double published, double accept) {
  ValidationRow r;
  r.published = published;
  r.accept = accept;
  return r;
}

TEST(Validation, TheErrorIsAFractionOfThePublishedFigureWithItsSign) {
  EXPECT_DOUBLE_EQ(compare(row(200, 0.1), 150).error, -0.25);
  EXPECT_DOUBLE_EQ(compare(row(200, 0.1), 250).error, 0.25);
}

TEST(Validation, WhatIsAtTheLimitIsWithin) {
  EXPECT_TRUE(compare(row(100, 0.1), 110).within);
  EXPECT_TRUE(compare(row(100, 0.1), 90).within);
  EXPECT_FALSE(compare(row(100, 0.1), 110.1).within);
  EXPECT_FALSE(compare(row(100, 0.1), 89.9).within);
}

TEST(Validation, TwiceAndHalfAreEquallyFarOff) {
  const std::vector rows{row(100, 0.1), row(100, 0.1)};
  const ValidationSummary s = summary(rows, {compare(rows[0], 200), compare(rows[1], 50)});
  EXPECT_EQ(s.rows, 2);
  EXPECT_EQ(s.within, 0);
  EXPECT_NEAR(s.geomean_abs_error, 1, 1e-12);
}

TEST(Validation, WhatFailedIsNotCounted) {
  const std::vector rows{row(100, 0.1), row(100, 0.1)};
  const ValidationSummary s = summary(rows, {std::nullopt, compare(rows[1], 105)});
  EXPECT_EQ(s.rows, 1);
  EXPECT_EQ(s.within, 1);
  EXPECT_NEAR(s.geomean_abs_error, 0.05, 1e-12);
}

TEST(Validation, AZeroIsWrongAndNotInfinite) {
  const std::vector rows{row(100, 0.1)};
  EXPECT_TRUE(std::isfinite(summary(rows, {compare(rows[0], 0)}).geomean_abs_error));
}

}  // namespace
}  // namespace infold::study
