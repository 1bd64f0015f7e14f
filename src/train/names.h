// What a training step calls by name: what a user chooses for it, and the groups of ranks of a layout.
#pragma once

#include <array>
#include <cstdint>
#include <span>

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

enum class ScheduleKind : std::uint8_t { kGpipe, k1f1b, kInterleaved, kZeroBubble };
inline constexpr std::array kScheduleNames = {
    sim::Named{ScheduleKind::kGpipe, "gpipe", "all micro-batches forward, then all backward"},
    sim::Named{ScheduleKind::k1f1b, "1f1b",
               "forward and backward by turns, so that few micro-batches are under way"},
    sim::Named{ScheduleKind::kInterleaved, "interleaved",
               "1f1b with several parts of the model on each stage: a shorter bubble, more sends"},
    sim::Named{ScheduleKind::kZeroBubble, "zero-bubble",
               "1f1b whose gradients of weights are computed later, where a stage would wait (ZB-H1)"},
};
constexpr std::span<const sim::Named<ScheduleKind>> names_of(ScheduleKind) {
  return kScheduleNames;
}

enum class SyncKind : std::uint8_t { kDdp, kHorovod, kTensorflow, kPerTensor, kZero1, kZero2, kFsdp, kHsdp };
inline constexpr std::array kSyncNames = {
    sim::Named{SyncKind::kDdp, "ddp", "PyTorch DDP: buckets in reverse order of parameters"},
    sim::Named{SyncKind::kHorovod, "horovod", "Horovod: what is ready is fused, every few milliseconds"},
    sim::Named{SyncKind::kTensorflow, "tensorflow",
               "TensorFlow MirroredStrategy: everything in one, after backward"},
    sim::Named{SyncKind::kPerTensor, "per-tensor", "each gradient by itself, as soon as it is there"},
    sim::Named{
        SyncKind::kZero1, "zero1",
        "ZeRO-1, as Megatron-LM's distributed optimizer: each rank updates its shard of the parameters"},
    sim::Named{SyncKind::kZero2, "zero2", "ZeRO-2: of gradients, too, each rank keeps its shard"},
    sim::Named{SyncKind::kFsdp, "fsdp",
               "PyTorch FSDP2: weights are shards, gathered block by block for forward and backward"},
    sim::Named{SyncKind::kHsdp, "hsdp", "the same within groups of ranks, with all-reduces between groups"},
};
constexpr std::span<const sim::Named<SyncKind>> names_of(SyncKind) {
  return kSyncNames;
}

/// The type in which gradients are sent, where a strategy has the choice.
enum class ReduceType : std::uint8_t { kFp32, kProducts };
inline constexpr std::array kReduceTypeNames = {
    sim::Named{ReduceType::kFp32, "fp32", "FSDP's mixed precision with fp32 sums, as torchtitan has it"},
    sim::Named{ReduceType::kProducts, "products",
               "the type of activations and products, as llm-foundry's PURE"},
};
constexpr std::span<const sim::Named<ReduceType>> names_of(ReduceType) {
  return kReduceTypeNames;
}

/// How ranks that share a sequence get the keys and values of the others.
enum class KeyExchange : std::uint8_t { kAllGather, kRing };
inline constexpr std::array kKeyExchangeNames = {
    sim::Named{KeyExchange::kAllGather, "all-gather", "all are gathered before attention"},
    sim::Named{KeyExchange::kRing, "ring",
               "each rank passes on the part that it has while it attends to it (ring attention)"},
};
constexpr std::span<const sim::Named<KeyExchange>> names_of(KeyExchange) {
  return kKeyExchangeNames;
}

/// How tokens get to the ranks of their experts and back.
enum class ExpertExchange : std::uint8_t { kAllToAll, kMulticast };
inline constexpr std::array kExpertExchangeNames = {
    sim::Named{ExpertExchange::kAllToAll, "all-to-all",
               "a copy of a token for each of its experts, and as many back"},
    sim::Named{
        ExpertExchange::kMulticast, "multicast",
        "a token leaves once, for all ranks of its experts, and comes back summed (dispatch, combine)"},
};
constexpr std::span<const sim::Named<ExpertExchange>> names_of(ExpertExchange) {
  return kExpertExchangeNames;
}

/// The groups of ranks that communicate with each other.
enum class Axis : std::uint8_t { kReplica, kTensor, kContext, kExpert, kExpertReplica, kPipeline };
inline constexpr std::array kAxisNames = {
    sim::Named{Axis::kReplica, "dp", "ranks that hold the same parameters: data and context parallel"},
    sim::Named{Axis::kTensor, "tp", "ranks that share every layer: tensor parallel"},
    sim::Named{Axis::kContext, "cp", "ranks that share every sequence: context parallel"},
    sim::Named{Axis::kExpert, "ep", "data-parallel ranks that share the experts: expert parallel"},
    sim::Named{Axis::kExpertReplica, "edp", "ranks that hold the same experts"},
    sim::Named{Axis::kPipeline, "pp", "ranks that share the layers of one replica: stages"},
};
constexpr std::span<const sim::Named<Axis>> names_of(Axis) {
  return kAxisNames;
}

}  // namespace infold::train
