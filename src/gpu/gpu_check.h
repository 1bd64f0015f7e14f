// The checks of a GPU that concern more than one parameter.
#pragma once

#include <fmt/format.h>

#include "gpu/gpu_spec.h"
#include "gpu/kernel/precision.h"
#include "sim/params.h"
#include "sim/result.h"

namespace infold::gpu {

/// Checks whether parameters contradict each other; an error has a path inside the GPU ("hbm.refresh").
inline sim::Status check(const GpuSpec& spec) {
  if (spec.hbm.refresh * 2 > spec.hbm.refresh_interval) {
    return sim::fail("refreshing takes more than half of the time (see hbm.refresh_interval)", "hbm.refresh");
  }
  if (spec.hbm.groups > spec.hbm.channels) {
    return sim::fail("a group has one channel at least (see hbm.channels)", "hbm.groups");
  }
  return {};
}

/// Checks whether the GPU can multiply matrices of such numbers.
inline sim::Status check_precision(const GpuSpec& spec, Precision precision) {
  if (matrix_ops(spec.sm, precision) > 0) return {};
  return sim::fail(fmt::format("{} has no matrix units for {} (gpu.sm.matrix8 is 0); take a wider --dtype",
                               spec.name, sim::name_of(precision)));
}

}  // namespace infold::gpu
