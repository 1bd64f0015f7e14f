// From the shape of a kernel to tensors and kernels on one GPU. Used by kernel_run only.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gpu/kernel/kernel_list.h"
#include "gpu/sm/core.h"
#include "sim/result.h"
#include "study/kernel/kernel_run.h"

namespace infold::study {

struct BufferCopy {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  sim::Bytes bytes;
};

struct KernelPlan {
  std::unique_ptr<gpu::KernelList> list;  ///< null when the copy engines do the work
  std::optional<BufferCopy> copy;
  std::optional<gpu::TilePlan> tile;
  sim::Bytes bytes;  ///< the bytes of all tensors
};

/// The bytes of all tensors of the job.
sim::Bytes footprint(const KernelJob& job);
/// Checks whether a job can be run as asked.
sim::Status check_kernel(const KernelJob& job);
/// Requires: check_kernel(job) passed.
KernelPlan build(const KernelJob& job, gpu::Core& core);

}  // namespace infold::study
