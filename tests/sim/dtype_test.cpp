// Element types: rounding to nearest with ties to even, the special numbers, folding, dividing.
#include "sim/dtype.h"

#include <rapidcheck.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace infold::sim {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint16_t bits_of(DataType t, double value) {
  std::array<std::byte, 2> memory{};
  store(t, memory, 0, value);
  std::uint16_t bits;
  std::memcpy(&bits, memory.data(), 2);
  return bits;
}
double value_of(DataType t, std::uint16_t bits) {
  std::array<std::byte, 2> memory;
  std::memcpy(memory.data(), &bits, 2);
  return load(t, memory, 0);
}
double rounded(DataType t, double value) {
  std::array<std::byte, 4> memory{};
  store(t, memory, 0, value);
  return load(t, memory, 0);
}

class Halves : public testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, Halves, testing::Values(DataType::kFp16, DataType::kBf16),
                         [](const auto& tested) { return std::string(sim::name_of(tested.param)); });

TEST_P(Halves, EveryNumberSurvivesTheRoundTrip) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double value = value_of(GetParam(), static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(rounded(GetParam(), value)));
    } else {
      ASSERT_EQ(bits_of(GetParam(), value), bits) << value;
    }
  }
}

// Between each two neighbours: the middle goes to the even one, anything else to the nearer.
TEST_P(Halves, RoundToNearestTiesToEven) {
  for (std::uint16_t bits = 0; std::isfinite(value_of(GetParam(), static_cast<std::uint16_t>(bits + 1)));
       ++bits) {
    const double low = value_of(GetParam(), bits);
    const double high = value_of(GetParam(), static_cast<std::uint16_t>(bits + 1));
    const double middle = low + (high - low) / 2;
    const auto even = static_cast<std::uint16_t>(bits + bits % 2);
    ASSERT_EQ(bits_of(GetParam(), middle), even) << bits;
    ASSERT_EQ(bits_of(GetParam(), std::nextafter(middle, 0)), bits);
    ASSERT_EQ(bits_of(GetParam(), std::nextafter(middle, kInfinity)), bits + 1);
    ASSERT_EQ(bits_of(GetParam(), -middle), even | 0x8000);
  }
}

TEST_P(Halves, ZerosKeepTheirSign) {
  EXPECT_EQ(bits_of(GetParam(), 0.0), 0);
  EXPECT_EQ(bits_of(GetParam(), -0.0), 0x8000);
}

TEST_P(Halves, InfinitiesAndNan) {
  EXPECT_EQ(rounded(GetParam(), kInfinity), kInfinity);
  EXPECT_EQ(rounded(GetParam(), -kInfinity), -kInfinity);
  EXPECT_EQ(rounded(GetParam(), 1e300), kInfinity);
  EXPECT_TRUE(std::isnan(rounded(GetParam(), std::nan(""))));
}

TEST(Fp16, KnownNumbers) {
  EXPECT_EQ(bits_of(DataType::kFp16, 1.0), 0x3c00);
  EXPECT_EQ(bits_of(DataType::kFp16, -2.0), 0xc000);
  EXPECT_EQ(bits_of(DataType::kFp16, 65504.0), 0x7bff);
  EXPECT_EQ(bits_of(DataType::kFp16, 65519.99), 0x7bff);
  EXPECT_EQ(bits_of(DataType::kFp16, 65520.0), 0x7c00) << "the tie at the end goes to infinity";
  EXPECT_EQ(bits_of(DataType::kFp16, 0x1p-24), 0x0001) << "the smallest";
  EXPECT_EQ(bits_of(DataType::kFp16, 0x1p-25), 0x0000);
  EXPECT_EQ(bits_of(DataType::kFp16, 0x1.8p-25), 0x0001);
  EXPECT_EQ(bits_of(DataType::kFp16, 0.1), 0x2e66);
}

TEST(Bf16, KnownNumbers) {
  EXPECT_EQ(bits_of(DataType::kBf16, 1.0), 0x3f80);
  EXPECT_EQ(bits_of(DataType::kBf16, 0x1.01p0), 0x3f80) << "a tie";
  EXPECT_EQ(bits_of(DataType::kBf16, 0x1.03p0), 0x3f82) << "a tie";
  EXPECT_EQ(bits_of(DataType::kBf16, 0x1.0100000001p0), 0x3f81) << "rounded once, not by way of fp32";
  EXPECT_EQ(bits_of(DataType::kBf16, 3.3895313892515355e38), 0x7f7f);
}

TEST(DataTypes, Sizes) {
  EXPECT_EQ(size_of(DataType::kFp32).count(), 4);
  EXPECT_EQ(size_of(DataType::kInt32).count(), 4);
  EXPECT_EQ(size_of(DataType::kFp16).count(), 2);
  EXPECT_EQ(size_of(DataType::kBf16).count(), 2);
}

TEST(DataTypes, RoundingIsHalfAUnitInTheLastPlace) {
  for (DataType t : {DataType::kFp32, DataType::kFp16, DataType::kBf16}) {
    const double r = rounding_of(t);
    EXPECT_EQ(rounded(t, 1 + r), 1.0) << "a tie, to even";
    EXPECT_EQ(rounded(t, 1 + 2 * r), 1 + 2 * r);
    EXPECT_EQ(rounded(t, 1 + r + r / 64), 1 + 2 * r);
  }
  EXPECT_EQ(rounding_of(DataType::kInt32), 0);
}

/// a op b in the type.
double folded(DataType t, ReduceOp op, double a, double b) {
  std::array<std::byte, 4> into{};
  std::array<std::byte, 4> with{};
  store(t, into, 0, a);
  store(t, with, 0, b);
  const auto size = static_cast<std::size_t>(size_of(t).count());
  fold(t, op, std::span(into).first(size), std::span(with).first(size));
  return load(t, into, 0);
}

class Folding : public testing::TestWithParam<DataType> {};
INSTANTIATE_TEST_SUITE_P(Types, Folding,
                         testing::Values(DataType::kFp32, DataType::kFp16, DataType::kBf16, DataType::kInt32),
                         [](const auto& tested) { return std::string(sim::name_of(tested.param)); });

TEST_P(Folding, DoesWhatTheOperatorSays) {
  EXPECT_EQ(folded(GetParam(), ReduceOp::kSum, 3, -5), -2);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kAvg, 3, -5), -2) << "the division comes at the end";
  EXPECT_EQ(folded(GetParam(), ReduceOp::kProd, 3, -5), -15);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kMin, 3, -5), -5);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kMin, -5, 3), -5);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kMax, 3, -5), 3);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kMax, -5, 3), 3);
  EXPECT_EQ(folded(GetParam(), ReduceOp::kSum, 7, -7), 0);
}

TEST_P(Folding, TakesEveryElementByItself) {
  std::array<std::byte, 64> into{};
  std::array<std::byte, 64> with{};
  const std::size_t n = 64 / static_cast<std::size_t>(size_of(GetParam()).count());
  for (std::size_t i = 0; i < n; ++i) {
    store(GetParam(), into, i, static_cast<double>(i));
    store(GetParam(), with, i, static_cast<double>(2 * i));
  }
  fold(GetParam(), ReduceOp::kSum, into, with);
  for (std::size_t i = 0; i < n; ++i) {
    EXPECT_EQ(load(GetParam(), into, i), static_cast<double>(3 * i));
    EXPECT_EQ(load(GetParam(), with, i), static_cast<double>(2 * i));
  }
}

TEST_P(Folding, DividesOnce) {
  std::array<std::byte, 8> values{};
  const std::size_t n = 8 / static_cast<std::size_t>(size_of(GetParam()).count());
  for (std::size_t i = 0; i < n; ++i) store(GetParam(), values, i, 12);
  divide(GetParam(), values, 3);
  for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(load(GetParam(), values, i), 4);
}

TEST(Folding, IntegersWrap) {
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  constexpr double kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(folded(DataType::kInt32, ReduceOp::kSum, kMost, 1), kLeast);
  EXPECT_EQ(folded(DataType::kInt32, ReduceOp::kProd, kLeast, -1), kLeast);
}

TEST(Folding, Fp32IsWhatTheMachineComputes) {
  EXPECT_TRUE(rc::check([] {
    const auto number = [] { return std::bit_cast<float>(*rc::gen::arbitrary<std::uint32_t>()); };
    const float a = number();
    const float b = number();
    RC_PRE(std::isfinite(a) && std::isfinite(b));
    RC_ASSERT(folded(DataType::kFp32, ReduceOp::kSum, a, b) == static_cast<double>(a + b));
    RC_ASSERT(folded(DataType::kFp32, ReduceOp::kProd, a, b) == static_cast<double>(a * b));
  }));
}

TEST(Folding, HalvesRoundEachResultOnce) {
  EXPECT_EQ(folded(DataType::kFp16, ReduceOp::kSum, 2048, 1), 2048) << "a tie, to even";
  EXPECT_EQ(folded(DataType::kFp16, ReduceOp::kSum, 2048, 3), 2052) << "a tie, to even";
  EXPECT_EQ(folded(DataType::kBf16, ReduceOp::kSum, 256, 1), 256);
  EXPECT_EQ(folded(DataType::kBf16, ReduceOp::kSum, 256, 3), 260);
  EXPECT_EQ(folded(DataType::kFp16, ReduceOp::kSum, 65504, 65504), kInfinity);
}

}  // namespace
}  // namespace infold::sim
