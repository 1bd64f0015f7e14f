// Number formats of kernels: the size of an element, and the rate of computing with it.
#pragma once

#include "gpu/gpu_spec.h"
#include "gpu/names.h"

namespace infold::gpu {

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
