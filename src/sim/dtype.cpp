// Software fp16 and bf16, and folding of typed byte ranges.
#include "sim/dtype.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "sim/check.h"

namespace infold::sim {

namespace {

// A result that is not a number is always the same: which operand's payload or sign a processor hands on
// differs between processors, and between orders in which a compiler puts the operands.
constexpr std::uint32_t kFloatNan = 0x7fc00000;
constexpr std::uint16_t kHalfNan = 0x7e00;
constexpr std::uint16_t kBf16Nan = 0x7fc0;

template <class T>
T read(std::span<const std::byte> from, std::size_t i) {
  T v;
  std::memcpy(&v, from.data() + i * sizeof(T), sizeof(T));
  return v;
}
template <class T>
void write(std::span<std::byte> to, std::size_t i, T v) {
  std::memcpy(to.data() + i * sizeof(T), &v, sizeof(T));
}

double from_half(std::uint16_t h) {
  const int exponent = (h >> 10) & 31;
  const int mantissa = h & 1023;
  double v;
  if (exponent == 31) {
    v = mantissa != 0 ? std::nan("") : HUGE_VAL;
  } else if (exponent == 0) {
    v = std::ldexp(mantissa, -24);
  } else {
    v = std::ldexp(1024 + mantissa, exponent - 25);
  }
  return (h & 0x8000) != 0 ? -v : v;
}

std::uint16_t to_half(double v) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(v) ? 0x8000 : 0);
  const double a = std::fabs(v);
  if (std::isnan(v)) return kHalfNan;
  if (a == 0) return sign;                                           // zero has no exponent to start from
  if (a >= 65520) return static_cast<std::uint16_t>(sign | 0x7c00);  // rounds to infinity
  int exponent = 0;
  std::frexp(a, &exponent);                               // a = m · 2^exponent, m in [0.5, 1)
  const int unit = exponent < -13 ? -24 : exponent - 11;  // exponent of the last place
  const auto scaled = static_cast<std::uint32_t>(std::nearbyint(std::ldexp(a, -unit)));
  // A carry out of the mantissa moves into the exponent by itself.
  const std::uint32_t biased = unit == -24 ? 0 : static_cast<std::uint32_t>(unit + 24) << 10;
  return static_cast<std::uint16_t>(sign | (biased + scaled));
}

double from_bf16(std::uint16_t b) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(b) << 16);
}

std::uint16_t to_bf16(double v) {
  if (std::isnan(v)) return kBf16Nan;
  // The value goes through fp32 rounded to odd, so that only the second rounding counts.
  auto f = static_cast<float>(v);
  auto bits = std::bit_cast<std::uint32_t>(f);
  if (std::isfinite(f) && static_cast<double>(f) != v) {
    if (std::fabs(static_cast<double>(f)) > std::fabs(v)) --bits;
    bits |= 1;
  }
  if ((bits & 0x7f800000) == 0x7f800000) return static_cast<std::uint16_t>(bits >> 16);
  return static_cast<std::uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double combine(ReduceOp op, double a, double b) {
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return a + b;
    case ReduceOp::kProd:
      return a * b;
    case ReduceOp::kMin:
      return b < a ? b : a;
    case ReduceOp::kMax:
      return a < b ? b : a;
  }
  return a;
}

std::int32_t combine(ReduceOp op, std::int32_t a, std::int32_t b) {
  const auto ua = static_cast<std::uint32_t>(a);
  const auto ub = static_cast<std::uint32_t>(b);
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      return static_cast<std::int32_t>(ua + ub);
    case ReduceOp::kProd:
      return static_cast<std::int32_t>(ua * ub);
    case ReduceOp::kMin:
      return b < a ? b : a;
    case ReduceOp::kMax:
      return a < b ? b : a;
  }
  return a;
}

}  // namespace

double rounding_of(DataType t) {
  switch (t) {
    case DataType::kFp32:
      return 0x1p-24;
    case DataType::kFp16:
      return 0x1p-11;
    case DataType::kBf16:
      return 0x1p-8;
    case DataType::kInt32:
      return 0;
  }
  return 0;
}

double load(DataType t, std::span<const std::byte> from, std::size_t element) {
  switch (t) {
    case DataType::kFp32:
      return read<float>(from, element);
    case DataType::kFp16:
      return from_half(read<std::uint16_t>(from, element));
    case DataType::kBf16:
      return from_bf16(read<std::uint16_t>(from, element));
    case DataType::kInt32:
      return read<std::int32_t>(from, element);
  }
  return 0;
}

void store(DataType t, std::span<std::byte> to, std::size_t element, double value) {
  switch (t) {
    case DataType::kFp32:
      if (std::isnan(value)) return write(to, element, kFloatNan);
      return write(to, element, static_cast<float>(value));
    case DataType::kFp16:
      return write(to, element, to_half(value));
    case DataType::kBf16:
      return write(to, element, to_bf16(value));
    case DataType::kInt32:
      return write(to, element, static_cast<std::int32_t>(value));
  }
}

void fold(DataType t, ReduceOp op, std::span<std::byte> into, std::span<const std::byte> with) {
  INFOLD_DCHECK(into.size() == with.size(), "both sides of a fold have the same size");
  const std::size_t n = into.size() / static_cast<std::size_t>(size_of(t).count());
  for (std::size_t i = 0; i < n; ++i) {
    if (t == DataType::kInt32) {
      write(into, i, combine(op, read<std::int32_t>(into, i), read<std::int32_t>(with, i)));
    } else {
      // The result is exact in double: sums and products of two such numbers fit, or round once more without
      // harm.
      store(t, into, i, combine(op, load(t, into, i), load(t, with, i)));
    }
  }
}

void divide(DataType t, std::span<std::byte> values, int by) {
  const std::size_t n = values.size() / static_cast<std::size_t>(size_of(t).count());
  for (std::size_t i = 0; i < n; ++i) {
    if (t == DataType::kInt32) {
      write(values, i, read<std::int32_t>(values, i) / by);
    } else {
      store(t, values, i, load(t, values, i) / by);
    }
  }
}

}  // namespace infold::sim
