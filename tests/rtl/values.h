// Values of contributions: ordinary numbers, any bits, and the ones that adders get wrong first.
#pragma once

#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "coverage.h"
#include "sim/dtype.h"
#include "sim/random.h"

namespace infold::rtl {

inline constexpr std::uint32_t kHard[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x80800000,
    0x00800001, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
    0xffbfffff, 0x3f800000, 0xbf800000, 0x3f800001, 0x33800000, 0x33800001, 0xb3800000, 0x33000000,
    0x3f808000, 0x3f818000, 0x3b800000, 0x3c000000, 0xbb800000, 0x7f7f0000, 0x73000000, 0x00010000,
    0x00008000, 0x4b000000, 0xcb000000, 0x4b000001, 0x34000000, 0x7effffff, 0x7f000000, 0x80010000};

/// One element: `hard` in 8 are hard ones, one in 8 has any bits, the others are of similar size.
inline std::uint32_t draw_fp32(sim::Random& random, unsigned hard) {
  const auto bits = static_cast<std::uint32_t>(random.next());
  const auto what = static_cast<unsigned>(random.below(8));
  if (what < hard) return kHard[random.below(std::size(kHard))];
  if (what == 7 && hard > 0) return bits;
  return (bits & 0x807fffffU) | (120 + bits % 13) << 23;
}

inline std::vector<std::byte> draw_values(sim::Random& random, sim::DataType type, std::size_t bytes,
                                          unsigned hard) {
  std::vector<std::byte> out(bytes);
  const std::size_t width = type == sim::DataType::kBf16 ? 2 : 4;
  for (std::size_t i = 0; i < bytes; i += width) {
    const std::uint32_t v = draw_fp32(random, hard) >> (width == 2 ? 16 : 0);
    std::memcpy(out.data() + i, &v, width);
  }
  return out;
}

/// Notes which kinds of numbers are among the values: in contributions ("in") or in what leaves ("out").
inline void note_values(Coverage& coverage, const std::string& where, bool bf16,
                        const std::vector<std::byte>& values) {
  const std::size_t width = bf16 ? 2 : 4;
  const std::string prefix = (bf16 ? "bf16 " : "fp32 ") + where + " ";
  for (std::size_t i = 0; i + width <= values.size(); i += width) {
    std::uint32_t v = 0;
    std::memcpy(&v, values.data() + i, width);
    if (bf16) v <<= 16;
    const std::uint32_t exponent = v >> 23 & 255;
    const std::uint32_t mantissa = v & 0x7fffff;
    if (exponent == 255) coverage.met(prefix + (mantissa != 0 ? "NaN" : "infinity"));
    if (exponent == 0) coverage.met(prefix + (mantissa != 0 ? "denormal" : (v >> 31) != 0 ? "-0" : "+0"));
  }
}

}  // namespace infold::rtl
