// The earliest of several times, against looking at all of them.
#include "net/packet/earliest.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

namespace infold::net {
namespace {

TEST(Earliest, OfNothingIsNever) {
  EXPECT_EQ(Earliest(1).at(), sim::Time::never());
  EXPECT_EQ(Earliest(5).at(), sim::Time::never());
}

RC_GTEST_PROP(EarliestProperty, IsTheFirstOfTheLeast, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(1, Earliest::kMost + 1);
  std::vector<sim::Time> times(count, sim::Time::never());
  Earliest earliest(count);
  for (int change = 0; change < 200; ++change) {
    const auto which = *rc::gen::inRange<std::uint32_t>(0, static_cast<std::uint32_t>(count));
    const auto at = *rc::gen::inRange(0, 20);
    const sim::Time late = sim::Time::never();
    times[which] = at < 10 ? late - sim::Time::ps(at) : sim::Time::ps(at);
    earliest.set(which, times[which]);
    const auto first = std::ranges::min_element(times);
    RC_ASSERT(earliest.at() == *first);
    if (*first != sim::Time::never())
      RC_ASSERT(earliest.which() == static_cast<std::uint32_t>(first - times.begin()));
  }
}

}  // namespace
}  // namespace infold::net
