// The checks of a GPU that concern more than one parameter.
#pragma once

#include "gpu/gpu_spec.h"
#include "sim/result.h"

namespace infold::gpu {

/// What contradicts what, with a path inside the GPU ("hbm.refresh").
inline sim::Status check(const GpuSpec& spec) {
  if (spec.hbm.refresh * 2 > spec.hbm.refresh_interval) {
    return sim::fail("refreshing takes more than half of the time (see hbm.refresh_interval)", "hbm.refresh");
  }
  if (spec.hbm.groups > spec.hbm.channels) {
    return sim::fail("a group has one channel at least (see hbm.channels)", "hbm.groups");
  }
  return {};
}

}  // namespace infold::gpu
