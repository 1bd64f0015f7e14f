// How a model is trained: what a user chooses for a run, besides the model and the machine.
#pragma once

#include <cstdint>

#include "gpu/kernel/precision.h"
#include "train/names.h"

namespace infold::train {

/// What of a parameter each rank keeps only its shard of. A strategy decides it (train/strategy/sharding.h).
enum class Sharding : std::uint8_t {
  kNone,
  kOptimizer,   ///< the state of the optimizer: ZeRO-1
  kGradients,   ///< state and gradients: ZeRO-2
  kParameters,  ///< state, gradients and weights, which are gathered for kernels: ZeRO-3, FSDP
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
  int expert_shards = 1;  ///< ranks that each update a part of a parameter of an expert

  bool eight_bit() const { return numbers == Numbers::kFp8; }
  /// Weights are in bfloat16, and the optimizer has a copy of its own in fp32.
  bool has_master() const { return numbers == Numbers::kBf16 || eight_bit(); }
  bool sixteen_bit() const { return numbers == Numbers::kMixed || has_master(); }
  int activation_bytes() const { return sixteen_bit() ? 2 : 4; }
  int weight_bytes() const { return has_master() ? 2 : 4; }
  /// The size of weights as kernels read them. With shards, they are gathered in the type of products.
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
  /// The precision of products; those with 8-bit operands have their own.
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
