// How a model is trained: what a user chooses for a run, besides the model and the machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/kernel/precision.h"
#include "sim/params.h"

namespace infold::train {

enum class Numbers : std::uint8_t { kFp32, kTf32, kMixed, kBf16 };
inline constexpr std::array kNumbersNames = {
    sim::Named{Numbers::kFp32, "fp32", "all in fp32, without matrix units"},
    sim::Named{Numbers::kTf32, "tf32", "fp32 in memory, tf32 in the matrix units"},
    sim::Named{Numbers::kMixed, "mixed",
               "16-bit activations and products; fp32 weights, gradients, optimizer"},
    sim::Named{Numbers::kBf16, "bf16",
               "bfloat16 weights, gradients and activations; fp32 master copy in the optimizer"},
};
constexpr std::span<const sim::Named<Numbers>> names_of(Numbers) {
  return kNumbersNames;
}

enum class Fusion : std::uint8_t { kEager, kFused };
inline constexpr std::array kFusionNames = {
    sim::Named{Fusion::kEager, "eager",
               "a kernel for each layer's each operation, as frameworks do by default"},
    sim::Named{Fusion::kFused, "fused",
               "normalisation, activation, dropout and addition in one kernel; bias in the product's; one "
               "optimizer kernel"},
};
constexpr std::span<const sim::Named<Fusion>> names_of(Fusion) {
  return kFusionNames;
}

enum class Optimizer : std::uint8_t { kSgd, kAdam };
inline constexpr std::array kOptimizerNames = {
    sim::Named{Optimizer::kSgd, "sgd", "gradient descent with momentum and weight decay"},
    sim::Named{Optimizer::kAdam, "adam", "Adam: two moments a parameter"},
};
constexpr std::span<const sim::Named<Optimizer>> names_of(Optimizer) {
  return kOptimizerNames;
}

struct Recipe {
  int batch = 32;      ///< samples per GPU and backward pass
  int accumulate = 1;  ///< backward passes per step, whose gradients are added up
  Numbers numbers = Numbers::kMixed;
  Fusion fusion = Fusion::kEager;
  Optimizer optimizer = Optimizer::kSgd;

  bool sixteen_bit() const { return numbers == Numbers::kMixed || numbers == Numbers::kBf16; }
  int activation_bytes() const { return sixteen_bit() ? 2 : 4; }
  int weight_bytes() const { return numbers == Numbers::kBf16 ? 2 : 4; }
  int gradient_bytes() const { return weight_bytes(); }
  /// Whether products use weights in another type than they are stored in.
  bool casts_weights() const { return numbers == Numbers::kMixed; }
  gpu::Precision precision() const {
    switch (numbers) {
      case Numbers::kFp32:
        return gpu::Precision::kFp32;
      case Numbers::kTf32:
        return gpu::Precision::kTf32;
      case Numbers::kMixed:
        return gpu::Precision::kFp16;
      case Numbers::kBf16:
        return gpu::Precision::kBf16;
    }
    return gpu::Precision::kFp32;
  }
};

}  // namespace infold::train
