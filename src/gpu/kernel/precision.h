// Number formats of kernels: the size of an element, and the rate of computing with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/gpu_spec.h"
#include "sim/params.h"

namespace infold::gpu {

enum class Precision : std::uint8_t { kFp16, kBf16, kTf32, kFp32, kFp8 };

inline constexpr std::array kPrecisionNames = {
    sim::Named{Precision::kFp16, "fp16", "16-bit floating point in the matrix units"},
    sim::Named{Precision::kBf16, "bf16", "bfloat16 in the matrix units"},
    sim::Named{Precision::kTf32, "tf32", "fp32 in memory, tf32 in the matrix units"},
    sim::Named{Precision::kFp32, "fp32", "fp32, outside the matrix units"},
    sim::Named{Precision::kFp8, "fp8", "8-bit floating point in the matrix units, where a GPU has it"},
};
constexpr std::span<const sim::Named<Precision>> names_of(Precision) {
  return kPrecisionNames;
}

constexpr int element_bytes(Precision p) {
  if (p == Precision::kFp8) return 1;
  return p == Precision::kFp16 || p == Precision::kBf16 ? 2 : 4;
}

/// The size of an element of the result of a product: sums of 8-bit numbers need more bits.
constexpr int result_bytes(Precision p) {
  return p == Precision::kFp8 ? 2 : element_bytes(p);
}

/// Operations per clock of one SM in a matrix product; 0 if the GPU cannot compute with such numbers.
inline int matrix_ops(const SmSpec& sm, Precision p) {
  switch (p) {
    case Precision::kFp16:
    case Precision::kBf16:
      return sm.matrix16;
    case Precision::kFp8:
      return sm.matrix8;
    case Precision::kTf32:
      return sm.matrix32;
    case Precision::kFp32:
      return sm.vector32;
  }
  return sm.vector32;
}

}  // namespace infold::gpu
