// The floating-point adders by themselves against the arithmetic of the simulator, with the cases of rounding
// counted.
#include <gtest/gtest.h>

#include <iostream>

#include "VAdd16.h"
#include "VAdd32.h"
#include "values.h"

namespace infold::rtl {
namespace {

std::vector<std::string> adder_bins() {
  return {"exact",      "rounded down",    "rounded up", "tie to even, down", "tie to even, up",
          "exact zero", "denormal result", "overflow",   "NaN operand",       "infinity minus infinity",
          "infinity",   "far apart",       "carry",      "both zero"};
}

/// Four cycles after the operands, the sum. The operands follow each other cycle by cycle, as in the unit.
template <class Model>
class Adder {
 public:
  Adder(sim::DataType type, Coverage& coverage)
      : type_(type), width_(type == sim::DataType::kBf16 ? 2 : 4), cover_(coverage) {}

  void add(std::uint32_t a, std::uint32_t b) {
    model_.a = static_cast<decltype(model_.a + 0)>(a);
    model_.b = static_cast<decltype(model_.b + 0)>(b);
    note(a, b);
    due_[count_ % 4] = fold(a, b);
    operands_[count_ % 4] = {a, b};
    ++count_;
    model_.clk = 0;
    model_.eval();
    model_.clk = 1;
    model_.eval();
    // The oldest of the four leaves.
    if (count_ < 4) return;
    if (static_cast<std::uint32_t>(model_.y) == due_[count_ % 4]) return;
    if (wrong_++ == 0)
      ADD_FAILURE() << std::hex << operands_[count_ % 4].first << " + " << operands_[count_ % 4].second
                    << " is " << model_.y << " and not " << due_[count_ % 4];
  }
  std::uint64_t count() const { return count_; }

 private:
  std::uint32_t fold(std::uint32_t a, std::uint32_t b) const {
    std::byte into[4], other[4];
    std::memcpy(into, &a, 4);
    std::memcpy(other, &b, 4);
    sim::fold(type_, sim::ReduceOp::kSum, {into, width_}, {other, width_});
    std::uint32_t out = 0;
    std::memcpy(&out, into, width_);
    return out;
  }
  double value(std::uint32_t bits) const { return std::bit_cast<float>(width_ == 2 ? bits << 16 : bits); }
  void note(std::uint32_t bits_a, std::uint32_t bits_b) {
    const double a = value(bits_a), b = value(bits_b);
    if (std::isnan(a) || std::isnan(b)) return cover_.met("NaN operand");
    if (std::isinf(a) && std::isinf(b) && a != b) return cover_.met("infinity minus infinity");
    if (std::isinf(a) || std::isinf(b)) return cover_.met("infinity");
    if (a == 0 && b == 0) return cover_.met("both zero");
    const double sum = value(fold(bits_a, bits_b));
    if (std::isinf(sum)) return cover_.met("overflow");
    // Exact up to where doubles round; further apart than that, the smaller one is less than any rounding
    // shows.
    const double exact = a + b;
    if (exact - a != b || exact - b != a) return cover_.met("far apart");
    if (exact == 0) return cover_.met("exact zero");
    cover_.met("carry", std::fabs(sum) >= 2 * std::fmax(std::fabs(a), std::fabs(b)) && sum != 0);
    cover_.met("denormal result", std::fabs(sum) < 0x1p-126);
    if (sum == exact) return cover_.met("exact");
    const double step = std::ldexp(1.0, std::ilogb(exact) - (width_ == 2 ? 7 : 23));
    const double below = std::floor(std::fabs(exact) / std::fabs(step)) * step;
    const bool tie = std::fabs(exact) - below == step / 2;
    const bool up = std::fabs(sum) > std::fabs(exact);
    if (tie) return cover_.met(up ? "tie to even, up" : "tie to even, down");
    cover_.met(up ? "rounded up" : "rounded down");
  }

  sim::DataType type_;
  std::size_t width_;
  Coverage& cover_;
  Model model_;
  std::uint32_t due_[4] = {};
  std::pair<std::uint32_t, std::uint32_t> operands_[4];
  std::uint64_t count_ = 0;
  std::uint64_t wrong_ = 0;
};

template <class Model>
void try_adder(sim::DataType type, unsigned man) {
  Coverage coverage(adder_bins());
  Adder<Model> adder(type, coverage);
  const unsigned drop = 23 - man;
  for (const std::uint32_t a : kHard)
    for (const std::uint32_t b : kHard) adder.add(a >> drop, b >> drop);
  sim::Random random(7);
  for (int i = 0; i < 500'000; ++i) {
    std::uint32_t a = draw_fp32(random, 1);
    std::uint32_t b = draw_fp32(random, 1);
    // Half of them have exponents so close that rounding and cancellation matter.
    if (i % 2 == 0) b = (b & 0x807fffffU) | ((a >> 23 & 255) + 26 - random.below(52) & 255) << 23;
    if (i % 8 == 1) a &= 0xffff0000U;
    if (i % 8 == 1) b &= 0xffffff00U << random.below(24);
    adder.add(a >> drop, b >> drop);
  }
  for (const auto& [bin, count] : coverage.counts()) std::cout << "  met: " << bin << ": " << count << "\n";
  EXPECT_EQ(coverage.empty(), "");
  std::cout << adder.count() << " sums\n";
}

TEST(Adders, Fp32AddsAsTheSimulatorDoes) {
  try_adder<VAdd32>(sim::DataType::kFp32, 23);
}
TEST(Adders, Bf16AddsAsTheSimulatorDoes) {
  try_adder<VAdd16>(sim::DataType::kBf16, 7);
}
// Every bf16 number with every hard one, both ways round.
TEST(Adders, EveryBf16NumberWithEveryHardOne) {
  Coverage coverage(adder_bins());
  Adder<VAdd16> adder(sim::DataType::kBf16, coverage);
  for (std::uint32_t a = 0; a < 0x10000; ++a)
    for (std::size_t i = 0; i < std::size(kHard); i += 5) {
      adder.add(a, kHard[i] >> 16);
      adder.add(kHard[i] >> 16, a);
    }
  EXPECT_GT(adder.count(), 1'000'000U);
}

}  // namespace
}  // namespace infold::rtl

double sc_time_stamp() {
  return 0;
}
