// Element types and reduction operators, and the arithmetic of functional mode.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::sim {

enum class DataType : std::uint8_t { kFp32, kFp16, kBf16, kInt32 };
enum class ReduceOp : std::uint8_t { kSum, kProd, kMin, kMax, kAvg };

inline constexpr std::array kDataTypeNames = {
    Named{DataType::kFp32, "fp32", "32-bit floating point (float)"},
    Named{DataType::kFp16, "fp16", "16-bit floating point (half)"},
    Named{DataType::kBf16, "bf16", "16-bit floating point with fp32's range (bfloat16)"},
    Named{DataType::kInt32, "int32", "32-bit integer"},
};
constexpr std::span<const Named<DataType>> names_of(DataType) {
  return kDataTypeNames;
}

inline constexpr std::array kReduceOpNames = {
    Named{ReduceOp::kSum, "sum", "sum"},
    Named{ReduceOp::kProd, "prod", "product"},
    Named{ReduceOp::kMin, "min", "smallest"},
    Named{ReduceOp::kMax, "max", "largest"},
    Named{ReduceOp::kAvg, "avg", "sum, divided once by the number of ranks"},
};
constexpr std::span<const Named<ReduceOp>> names_of(ReduceOp) {
  return kReduceOpNames;
}

constexpr Bytes size_of(DataType t) {
  return Bytes{t == DataType::kFp16 || t == DataType::kBf16 ? 2 : 4};
}
/// Half a unit in the last place, relative; 0 for integers.
double rounding_of(DataType t);

/// One element, as a double (exact for every type here).
double load(DataType t, std::span<const std::byte> from, std::size_t element);
/// Rounds to the type, ties to even.
void store(DataType t, std::span<std::byte> to, std::size_t element, double value);

/// into[i] = into[i] op with[i], each result rounded to the type; integers wrap.
void fold(DataType t, ReduceOp op, std::span<std::byte> into, std::span<const std::byte> with);
/// Finishes an average: one division, rounded once.
void divide(DataType t, std::span<std::byte> values, int by);

}  // namespace infold::sim
