// Division by a known number is division.
#include "sim/divisor.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace infold::sim {
namespace {

constexpr std::uint64_t kLargest = ~std::uint64_t{0};

TEST(Divisor, IsExactAtTheEdges) {
  for (const std::uint64_t n : {std::uint64_t{1}, std::uint64_t{2}, std::uint64_t{3}, std::uint64_t{4096},
                                kLargest / 2, kLargest / 2 + 1, kLargest - 1, kLargest}) {
    const Divisor by(n);
    EXPECT_EQ(by.value(), n);
    for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, n - 1, n, n + 1, 2 * n - 1, 2 * n,
                                  kLargest / n * n, kLargest / n * n - 1, kLargest - 1, kLargest}) {
      EXPECT_EQ(by.quotient(x), x / n) << x << " / " << n;
      EXPECT_EQ(by.remainder(x), x % n) << x << " % " << n;
    }
  }
}

RC_GTEST_PROP(Divisor, DividesAsTheHostDoes, (std::uint64_t x, std::uint64_t n, std::uint8_t shift)) {
  const std::uint64_t small = (n >> (shift % 64)) | 1U;
  const Divisor by(small);
  RC_ASSERT(by.quotient(x) == x / small);
  RC_ASSERT(by.remainder(x) == x % small);
}

}  // namespace
}  // namespace infold::sim
