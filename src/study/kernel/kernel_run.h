// One measurement of a kernel on one GPU, and its result.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "gpu/gpu_spec.h"
#include "gpu/kernel/attention.h"
#include "gpu/kernel/precision.h"
#include "gpu/kernel/product.h"
#include "gpu/kernel/tile_plan.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/launch.h"
#include "sim/result.h"
#include "study/collective/collective_run.h"
#include "study/names.h"

namespace infold::study {

struct GemmKernel {
  std::int64_t m = 4096;
  std::int64_t n = 4096;
  std::int64_t k = 4096;
  int tile_m = 0;  ///< with tile_n: this tile is used instead of the best one
  int tile_n = 0;
};

struct ConvKernel {
  gpu::Conv shape;
  ConvPass pass = ConvPass::kForward;
};

struct CopyKernel {
  sim::Bytes bytes = sim::Bytes::gib(1);
  CopyBy by = CopyBy::kSm;
};

struct StreamKernelJob {
  StreamOp op = StreamOp::kElementwise;
  std::int64_t rows = 1 << 20;
  std::int64_t cols = 256;
  gpu::Residency grid = gpu::Residency::kAny;
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
