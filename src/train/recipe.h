// How a model is trained: what a user chooses for a run, besides the model and the machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "gpu/kernel/precision.h"
#include "sim/params.h"

namespace infold::train {

enum class Numbers : std::uint8_t { kFp32, kTf32, kMixed, kBf16, kFp8 };
inline constexpr std::array kNumbersNames = {
    sim::Named{Numbers::kFp32, "fp32", "all in fp32, without matrix units"},
    sim::Named{Numbers::kTf32, "tf32", "fp32 in memory, tf32 in the matrix units"},
    sim::Named{Numbers::kMixed, "mixed",
               "16-bit activations and products; fp32 weights, gradients, optimizer"},
    sim::Named{Numbers::kBf16, "bf16",
               "bfloat16 weights, gradients and activations; fp32 master copy in the optimizer"},
    sim::Named{
        Numbers::kFp8, "fp8",
        "as bf16, but operands of products are cast to 8 bits with a scale each; not those of routers, "
        "attention and the last projection"},
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

/// What backward computes again instead of keeping it, in each repetition of the model's outermost 'repeat'.
enum class Recompute : std::uint8_t { kNone, kSelective, kFull };
inline constexpr std::array kRecomputeNames = {
    sim::Named{Recompute::kNone, "none", "everything that backward needs is kept"},
    sim::Named{Recompute::kSelective, "selective",
               "what products and attention give is kept; what lies between them is computed again"},
    sim::Named{Recompute::kFull, "full",
               "of each repetition only its input is kept; its forward pass runs again before its backward"},
};
constexpr std::span<const sim::Named<Recompute>> names_of(Recompute) {
  return kRecomputeNames;
}

struct Recipe {
  int batch = 32;      ///< samples per GPU and backward pass
  int accumulate = 1;  ///< backward passes per step, whose gradients are added up
  Numbers numbers = Numbers::kMixed;
  Fusion fusion = Fusion::kEager;
  Optimizer optimizer = Optimizer::kSgd;
  Recompute recompute = Recompute::kNone;

  bool eight_bit() const { return numbers == Numbers::kFp8; }
  /// Weights are in bfloat16, and the optimizer has a copy of its own in fp32.
  bool has_master() const { return numbers == Numbers::kBf16 || eight_bit(); }
  bool sixteen_bit() const { return numbers == Numbers::kMixed || has_master(); }
  int activation_bytes() const { return sixteen_bit() ? 2 : 4; }
  int weight_bytes() const { return has_master() ? 2 : 4; }
  int gradient_bytes() const { return weight_bytes(); }
  /// Whether products use weights in another type than they are stored in.
  bool casts_weights() const { return numbers == Numbers::kMixed; }
  /// Of products; those of 8-bit operands differ.
  gpu::Precision precision() const {
    switch (numbers) {
      case Numbers::kFp32:
        return gpu::Precision::kFp32;
      case Numbers::kTf32:
        return gpu::Precision::kTf32;
      case Numbers::kMixed:
        return gpu::Precision::kFp16;
      case Numbers::kBf16:
      case Numbers::kFp8:
        return gpu::Precision::kBf16;
    }
    return gpu::Precision::kFp32;
  }
};

}  // namespace infold::train
