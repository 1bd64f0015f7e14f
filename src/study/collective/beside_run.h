// A kernel on every GPU beside a collective over all of them: how much longer each takes than alone.
#pragma once

#include <array>
#include <cstdint>

#include "gpu/memory/memory_system.h"
#include "gpu/sm/actor.h"
#include "gpu/sm/core.h"
#include "study/collective/collective_run.h"
#include "study/kernel/kernel_run.h"

namespace infold::study {

struct BesideJob {
  KernelJob kernel;  ///< its GPU is that of the collective's system; its own options of SMs are not used
  CollectiveJob collective;  ///< one at a time, without values
  gpu::CoreOptions core;     ///< what is shared, which SMs are reserved, and the priority of the collective
};

struct BesideResult {
  sim::Time kernel_alone;  ///< of one of several kernels back to back, on the slowest GPU
  sim::Time kernel;        ///< the same beside the collective
  sim::Time collective_alone;
  sim::Time collective;  ///< beside the kernel
  int sms = 0;           ///< SMs that the collective holds on each GPU
  int kernels = 0;       ///< kernels that were timed
  int collectives = 0;
  gpu::PerActor<gpu::Traffic> traffic;  ///< of the first GPU, over the whole run of both
  gpu::PerActor<sim::Time> sm_time;     ///< of the first GPU, over the whole run of both

  double kernel_slowdown() const { return kernel.in_s() / kernel_alone.in_s() - 1; }
  double collective_slowdown() const { return collective.in_s() / collective_alone.in_s() - 1; }
};

sim::Result<BesideResult> run(const BesideJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
