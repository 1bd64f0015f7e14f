// A machine as a user writes it down: a number of GPUs of one kind on one fabric.
#pragma once

#include <string_view>

#include "gpu/gpu_spec.h"
#include "inc/inc_spec.h"
#include "net/topology/fabric_spec.h"

namespace infold::gpu {

struct MachineSpec {
  static constexpr std::string_view kAbout = "GPUs of one kind on one fabric.";
  int gpus = 8;
  GpuSpec gpu;
  net::FabricSpec fabric;
  inc::IncSpec inc;

  template <class V>
  void visit(V& v) {
    v.field("gpus", gpus, sim::between(1, net::kMostGpus), "number of GPUs");
    v.group("gpu", gpu);
    v.group("fabric", fabric);
    v.group("inc", inc);
  }
};

}  // namespace infold::gpu
