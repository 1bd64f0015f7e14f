// One measurement of a kernel on one GPU, and its result.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include "gpu/gpu_spec.h"
#include "gpu/kernel/attention.h"
#include "gpu/kernel/precision.h"
#include "gpu/kernel/product.h"
#include "gpu/kernel/tile_plan.h"
#include "gpu/sm/actor.h"
#include "sim/params.h"
#include "sim/result.h"
#include "study/collective/collective_run.h"

namespace infold::study {

struct GemmKernel {
  std::int64_t m = 4096;
  std::int64_t n = 4096;
  std::int64_t k = 4096;
  int tile_m = 0;  ///< with tile_n: this tile is used instead of the best one
  int tile_n = 0;
};

enum class ConvPass : std::uint8_t { kForward, kData, kFilter };
inline constexpr std::array kConvPassNames = {
    sim::Named{ConvPass::kForward, "forward", "the layer's output"},
    sim::Named{ConvPass::kData, "data", "the gradient of its input"},
    sim::Named{ConvPass::kFilter, "filter", "the gradient of its filter"},
};
constexpr std::span<const sim::Named<ConvPass>> names_of(ConvPass) {
  return kConvPassNames;
}
struct ConvKernel {
  gpu::Conv shape;
  ConvPass pass = ConvPass::kForward;
};

enum class CopyBy : std::uint8_t { kSm, kDma };
inline constexpr std::array kCopyByNames = {
    sim::Named{CopyBy::kSm, "sm", "a kernel that reads and writes"},
    sim::Named{CopyBy::kDma, "dma", "the GPU's copy engines"},
};
constexpr std::span<const sim::Named<CopyBy>> names_of(CopyBy) {
  return kCopyByNames;
}
struct CopyKernel {
  sim::Bytes bytes = sim::Bytes::gib(1);
  CopyBy by = CopyBy::kSm;
};

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

enum class GridChoice : std::uint8_t { kAny, kTogether, kFree };
inline constexpr std::array kGridChoiceNames = {
    sim::Named{GridChoice::kAny, "any", "workgroups run as SMs become free; passes are kernels of their own"},
    sim::Named{GridChoice::kTogether, "together", "one kernel whose whole grid must be resident"},
    sim::Named{GridChoice::kFree, "free", "the same, with a grid cut to the SMs that are free"},
};
constexpr std::span<const sim::Named<GridChoice>> names_of(GridChoice) {
  return kGridChoiceNames;
}
struct StreamKernelJob {
  StreamOp op = StreamOp::kElementwise;
  std::int64_t rows = 1 << 20;
  std::int64_t cols = 256;
  GridChoice grid = GridChoice::kAny;
};

struct AttentionKernelJob {
  gpu::Attention shape;
  bool backward = false;
};

using KernelChoice = std::variant<GemmKernel, ConvKernel, CopyKernel, StreamKernelJob, AttentionKernelJob>;

struct KernelJob {
  const gpu::GpuSpec* gpu = nullptr;
  KernelChoice kernel;
  gpu::Precision precision = gpu::Precision::kFp16;
  int sms_taken = 0;     ///< SMs held by workgroups that do nothing, as long as the kernel runs
  int sms_reserved = 0;  ///< SMs that the kernel must not use
  gpu::Contention contention;
};

struct KernelResult {
  sim::Time time;  ///< time of one of many back to back, launches included
  double flops = 0;
  std::uint64_t l2_bytes = 0;  ///< bytes read and written at L2
  std::uint64_t l2_read_bytes = 0;
  std::uint64_t hbm_read_bytes = 0;
  std::uint64_t hbm_bytes = 0;  ///< bytes read and written at HBM
  int kernels = 0;
  int workgroups = 0;  ///< workgroups of the first kernel
  int waves = 0;
  std::optional<gpu::TilePlan> tile;
  std::uint64_t events = 0;
};

sim::Result<KernelResult> run(const KernelJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
