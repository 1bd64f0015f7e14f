// The checks of a GPU that concern more than one parameter.
#pragma once

#include <optional>

#include "gpu/gpu_spec.h"
#include "sim/params.h"

namespace infold::gpu {

/// What contradicts what, with a path inside the GPU ("hbm.refresh").
inline std::optional<sim::Refusal> check(const GpuSpec& spec) {
  if (spec.hbm.refresh * 2 > spec.hbm.refresh_interval) {
    return sim::Refusal{"hbm.refresh",
                        "refreshing takes more than half of the time (see hbm.refresh_interval)"};
  }
  if (spec.hbm.groups > spec.hbm.channels) {
    return sim::Refusal{"hbm.groups", "a group has one channel at least (see hbm.channels)"};
  }
  return std::nullopt;
}

}  // namespace infold::gpu
