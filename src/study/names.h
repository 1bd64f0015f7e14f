// What measurements call by name: what a user may ask for, and what results are told by.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "sim/params.h"

namespace infold::study {

/// If every GPU does the same, four can represent all.
enum class Fold : std::uint8_t { kAuto, kOn, kOff };
inline constexpr std::array kFoldNames = {
    sim::Named{Fold::kAuto, "auto", "in large steps, unless packets are simulated one by one"},
    sim::Named{Fold::kOn, "on", "wherever it can be done"},
    sim::Named{Fold::kOff, "off", "every GPU is simulated"},
};
constexpr std::span<const sim::Named<Fold>> names_of(Fold) {
  return kFoldNames;
}

/// How closely a training step is simulated: a ladder, the finest level first.
enum class Fidelity : std::uint8_t { kPacket, kBurst, kComposed };
inline constexpr std::array kFidelityNames = {
    sim::Named{Fidelity::kPacket, "packet", "every packet by itself"},
    sim::Named{Fidelity::kBurst, "burst", "packets of one flow travel together"},
    sim::Named{Fidelity::kComposed, "composed",
               "each distinct kernel, communication and pair of them in detail; the step is put together"},
};
constexpr std::span<const sim::Named<Fidelity>> names_of(Fidelity) {
  return kFidelityNames;
}

enum class KernelClass : std::uint8_t { kProduct, kConvolution, kAttention, kStreaming, kTimed, kCopy };
inline constexpr std::array kKernelClassNames = {
    sim::Named{KernelClass::kProduct, "product", "matrix products"},
    sim::Named{KernelClass::kConvolution, "convolution", "convolutions"},
    sim::Named{KernelClass::kAttention, "attention", "fused attention"},
    sim::Named{KernelClass::kStreaming, "streaming",
               "kernels that stream through memory, the optimizer's too"},
    sim::Named{KernelClass::kTimed, "measured", "kernels of which a trace gives the duration alone"},
    sim::Named{KernelClass::kCopy, "copy", "copies into and out of the buffers of communication"},
};
constexpr std::span<const sim::Named<KernelClass>> names_of(KernelClass) {
  return kKernelClassNames;
}

enum class Cause : std::uint8_t { kSm, kHbm, kL2, kLink, kSkew, kWait, kCopy, kBubble, kInteraction };
inline constexpr std::array kCauseNames = {
    sim::Named{Cause::kSm, "sm", "collectives hold SMs"},
    sim::Named{Cause::kHbm, "hbm", "collectives use memory bandwidth"},
    sim::Named{Cause::kL2, "l2", "collectives use the cache and its bandwidth"},
    sim::Named{Cause::kLink, "link", "collectives of several communicators share links and switches"},
    sim::Named{Cause::kSkew, "skew", "collectives wait for late GPUs, and hold what they hold meanwhile"},
    sim::Named{Cause::kWait, "wait",
               "compute waits for communication, or starts late behind it, even if nothing were shared"},
    sim::Named{Cause::kCopy, "copy", "compute's stream copies into and out of the buffers of communication"},
    sim::Named{Cause::kBubble, "bubble",
               "stages of a pipeline wait for stages that have nothing to send yet"},
    sim::Named{Cause::kInteraction, "interaction", "what the causes do together, beyond each alone"},
};
constexpr std::span<const sim::Named<Cause>> names_of(Cause) {
  return kCauseNames;
}

enum class Variant : std::uint8_t { kSequential, kOverlap, kIdeal };
inline constexpr std::array kVariantNames = {
    sim::Named{Variant::kSequential, "sequential", "nothing is reduced before backward has ended"},
    sim::Named{Variant::kOverlap, "overlap", "buckets are reduced while backward runs"},
    sim::Named{Variant::kIdeal, "ideal",
               "the same on a machine where compute and collectives share no SM, cache or memory"},
};
constexpr std::span<const sim::Named<Variant>> names_of(Variant) {
  return kVariantNames;
}

enum class ConvPass : std::uint8_t { kForward, kData, kFilter };
inline constexpr std::array kConvPassNames = {
    sim::Named{ConvPass::kForward, "forward", "the layer's output"},
    sim::Named{ConvPass::kData, "data", "the gradient of its input"},
    sim::Named{ConvPass::kFilter, "filter", "the gradient of its filter"},
};
constexpr std::span<const sim::Named<ConvPass>> names_of(ConvPass) {
  return kConvPassNames;
}

enum class CopyBy : std::uint8_t { kSm, kDma };
inline constexpr std::array kCopyByNames = {
    sim::Named{CopyBy::kSm, "sm", "a kernel that reads and writes"},
    sim::Named{CopyBy::kDma, "dma", "the GPU's copy engines"},
};
constexpr std::span<const sim::Named<CopyBy>> names_of(CopyBy) {
  return kCopyByNames;
}

enum class StreamOp : std::uint8_t {
  kElementwise,
  kAdd,
  kActivationBackward,
  kBatchNormForward,
  kBatchNormBackward,
  kLayerNorm,
  kSoftmax,
  kOptimizer,
  kBucketCopy
};
inline constexpr std::array kStreamOpNames = {
    sim::Named{StreamOp::kElementwise, "elementwise", "one tensor in, one out"},
    sim::Named{StreamOp::kAdd, "add", "two in, one out"},
    sim::Named{StreamOp::kActivationBackward, "activation-backward", "output and gradient in, gradient out"},
    sim::Named{StreamOp::kBatchNormForward, "batch-norm", "two passes: statistics, then values"},
    sim::Named{StreamOp::kBatchNormBackward, "batch-norm-backward", "two passes over input and gradient"},
    sim::Named{StreamOp::kLayerNorm, "layer-norm", "one in, one out, a row at a time"},
    sim::Named{StreamOp::kSoftmax, "softmax", "the same with an exponential"},
    sim::Named{StreamOp::kOptimizer, "optimizer",
               "Adam: parameter, two moments and gradient in, the first three out, fp32"},
    sim::Named{StreamOp::kBucketCopy, "bucket-copy", "gradients into a bucket of fp32"},
};
constexpr std::span<const sim::Named<StreamOp>> names_of(StreamOp) {
  return kStreamOpNames;
}

}  // namespace infold::study
