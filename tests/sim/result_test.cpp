// Results: errors say where, and travel up with what is added to them.
#include "sim/result.h"

#include <gtest/gtest.h>

namespace infold::sim {
namespace {

Result<int> half(int v) {
  if (v % 2 != 0) return fail("it is odd", "v");
  return v / 2;
}

TEST(Result, IsAValueOrAnError) {
  EXPECT_EQ(half(6).value(), 3);
  ASSERT_FALSE(half(7));
  EXPECT_EQ(half(7).error().message, "it is odd");
  EXPECT_EQ(half(7).error().parameter, "v");
  EXPECT_EQ(half(7).error().kind, Error::Kind::kInput);
}

TEST(Result, AnErrorIsHandedOnAsItIs) {
  const auto quarter = [](int v) -> Result<std::string> {
    auto once = half(v);
    if (!once) return fail_as(std::move(once));
    return std::to_string(*once);
  };
  EXPECT_EQ(quarter(8).value(), "4");
  EXPECT_EQ(quarter(7).error().parameter, "v");
}

TEST(Result, PrefixedKeepsAllButTheMessage) {
  const Error e = prefixed("--size", {.message = "too large", .place = {"f.yaml", 3, 5}});
  EXPECT_EQ(e.message, "--size: too large");
  EXPECT_EQ(e.place.line, 3);
}

TEST(Result, TextHasThePartsOfThePlaceThatAreKnown) {
  EXPECT_EQ(to_string(Error{.message = "no"}), "no");
  EXPECT_EQ(to_string(Error{.message = "no", .place = {"f", 0, 0}}), "f: no");
  EXPECT_EQ(to_string(Error{.message = "no", .place = {"f", 2, 7}}), "f:2:7: no");
}

TEST(Result, KindsTellWhatStoppedASimulation) {
  const Status stuck = deadlock({"gpu0 waits for gpu1"});
  EXPECT_EQ(stuck.error().kind, Error::Kind::kDeadlock);
  EXPECT_EQ(stuck.error().details.size(), 1U);
  const Status stopped = interrupted();
  EXPECT_EQ(stopped.error().kind, Error::Kind::kInterrupted);
}

}  // namespace
}  // namespace infold::sim
