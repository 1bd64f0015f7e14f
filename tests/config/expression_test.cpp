// Whole-number expressions.
#include "config/yaml/expression.h"

#include <rapidcheck/gtest.h>

#include <fmt/format.h>

#include "support/results.h"

namespace infold::config {
namespace {

const Scope kScope = {{"depth", 12}, {"width", 64}};

std::int64_t value(std::string_view text) {
  const auto v = evaluate(text, kScope);
  EXPECT_EQ(why(v), "");
  return v.value_or(-1);
}
std::string fault(std::string_view text) {
  return why(evaluate(text, kScope));
}

TEST(Expression, FollowsTheRulesOfArithmetic) {
  EXPECT_EQ(value("4 * width"), 256);
  EXPECT_EQ(value("2 + 3 * 4"), 14);
  EXPECT_EQ(value("(2 + 3) * 4"), 20);
  EXPECT_EQ(value("10 - 4 - 3"), 3);
  EXPECT_EQ(value("width / 8 / 2"), 4);
  EXPECT_EQ(value("-depth + 13"), 1);
  EXPECT_EQ(value(" 7 "), 7);
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_EQ(fault("widht * 2"), "unknown name 'widht' (did you mean 'width'?)");
  EXPECT_EQ(fault("colour"), "unknown name 'colour' (names here: depth, width)");
  EXPECT_EQ(fault("width / 7"), "'width / 7' is not a whole number (64 / 7)");
  EXPECT_EQ(fault("1 / 0"), "'1 / 0' divides by zero");
  EXPECT_EQ(fault("2 *"), "expected a whole number, not '2 *'");
  EXPECT_EQ(fault(""), "expected a whole number, not ''");
  EXPECT_EQ(fault("2.5"), "expected a whole number, not '2.5'");
  EXPECT_EQ(fault("4x"), "expected a whole number, not '4x'");
  EXPECT_EQ(fault("(1 + 2"), "a bracket in '(1 + 2' is not closed");
  EXPECT_EQ(fault("1 2"), "expected an operator in '1 2', not '2'");
  EXPECT_EQ(fault("2 ^ 3"), "expected an operator in '2 ^ 3', not '^'");
  EXPECT_EQ(fault("99999999999999999999"), "'99999999999999999999' is too large");
  EXPECT_EQ(fault("1000000000 * 1000000000"), "'1000000000 * 1000000000' is too large");
  EXPECT_NE(fault(std::string(100, '(') + "1"), "");
  EXPECT_NE(fault(std::string(4000, '-') + "1"), "");
}

RC_GTEST_PROP(Expression, TextOfAnyKindIsAnsweredWithoutACrash, (const std::string& text)) {
  (void)evaluate(text, kScope);
}

RC_GTEST_PROP(Expression, AgreesWithTheMachine, ()) {
  const auto a = *rc::gen::inRange(-1000, 1000);
  const auto b = *rc::gen::inRange(-1000, 1000);
  const auto c = *rc::gen::inRange(1, 1000);
  RC_ASSERT(value(fmt::format("{} + {} * {} - ({} - {})", a, b, c, b, a)) == a + b * c - (b - a));
  RC_ASSERT(value(fmt::format("{} * {} / {}", a, c, c)) == a);
}

}  // namespace
}  // namespace infold::config
