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

/// What of a parameter each rank keeps only its shard of. A strategy decides it (train/strategy/sharding.h).
enum class Sharding : std::uint8_t {
  kNone,
  kOptimizer,   ///< the state of the optimizer: ZeRO-1
  kGradients,   ///< gradients, too: ZeRO-2
  kParameters,  ///< weights, too; kernels find them gathered: ZeRO-3, FSDP
};

struct Recipe {
  int batch = 32;      ///< samples per GPU and backward pass
  int accumulate = 1;  ///< backward passes per step, whose gradients are added up
  Numbers numbers = Numbers::kMixed;
  Fusion fusion = Fusion::kEager;
  Optimizer optimizer = Optimizer::kSgd;
  Recompute recompute = Recompute::kNone;
  Sharding sharding = Sharding::kNone;
  int shards = 1;         ///< ranks that each update a part of a parameter
  int expert_shards = 1;  ///< the same for the parameters of experts

  bool eight_bit() const { return numbers == Numbers::kFp8; }
  /// Weights are in bfloat16, and the optimizer has a copy of its own in fp32.
  bool has_master() const { return numbers == Numbers::kBf16 || eight_bit(); }
  bool sixteen_bit() const { return numbers == Numbers::kMixed || has_master(); }
  int activation_bytes() const { return sixteen_bit() ? 2 : 4; }
  int weight_bytes() const { return has_master() ? 2 : 4; }
  /// As kernels read them. With shards, those in the type of products are gathered.
  int read_weight_bytes() const { return sharding == Sharding::kNone ? weight_bytes() : activation_bytes(); }
  /// Gradients of gathered weights have their type; the shard that is kept has that of the weight's shard.
  int gradient_bytes() const {
    return sharding == Sharding::kParameters ? activation_bytes() : weight_bytes();
  }
  /// Whether kernels cast weights to the type of products, and gradients to that of weights.
  bool casts_weights() const { return weight_bytes() != activation_bytes() && sharding == Sharding::kNone; }
  bool casts_gradients() const { return gradient_bytes() != activation_bytes(); }
  /// Whether kernels add to the gradient of the passes before. Shards of it are added up elsewhere.
  bool adds_gradients() const {
    return accumulate > 1 && (sharding == Sharding::kNone || sharding == Sharding::kOptimizer);
  }
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
