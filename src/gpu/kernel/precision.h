// Number formats of kernels: the size of an element, and the rate of computing with it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/gpu_spec.h"
#include "sim/params.h"

namespace infold::gpu {

enum class Precision : std::uint8_t { kFp16, kBf16, kTf32, kFp32 };

inline constexpr std::array kPrecisionNames = {
    sim::Named{Precision::kFp16, "fp16", "16-bit floating point in the matrix units"},
    sim::Named{Precision::kBf16, "bf16", "bfloat16 in the matrix units"},
    sim::Named{Precision::kTf32, "tf32", "fp32 in memory, tf32 in the matrix units"},
    sim::Named{Precision::kFp32, "fp32", "fp32, outside the matrix units"},
};
constexpr std::span<const sim::Named<Precision>> names_of(Precision) {
  return kPrecisionNames;
}

constexpr int element_bytes(Precision p) {
  return p == Precision::kFp16 || p == Precision::kBf16 ? 2 : 4;
}

/// Operations per clock of one SM in a matrix product.
inline int matrix_ops(const SmSpec& sm, Precision p) {
  switch (p) {
    case Precision::kFp16:
    case Precision::kBf16:
      return sm.matrix16;
    case Precision::kTf32:
      return sm.matrix32;
    case Precision::kFp32:
      return sm.vector32;
  }
  return sm.vector32;
}

}  // namespace infold::gpu
