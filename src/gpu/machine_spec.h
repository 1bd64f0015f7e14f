// A machine as a user writes it down: a number of GPUs of one kind on one fabric, and how many such nodes
// there are.
#pragma once

#include <string_view>

#include "gpu/gpu_spec.h"
#include "gpu/nic/nic_spec.h"
#include "inc/inc_spec.h"
#include "net/topology/fabric_spec.h"
#include "net/topology/scale_out_spec.h"

namespace infold::gpu {

struct MachineSpec {
  static constexpr std::string_view kAbout = "GPUs of one kind on one fabric, in one node or several.";
  int nodes = 1;
  int gpus = 8;  ///< of each node
  GpuSpec gpu;
  net::FabricSpec fabric;
  inc::IncSpec inc;
  // Of a machine of several nodes only.
  NicSpec nic;
  HostSpec host;
  net::ScaleOutSpec scale_out;

  /// In all nodes; a machine that was prepared has no more than net::kMostGpus.
  int all_gpus() const { return nodes * gpus; }

  template <class V>
  void visit(V& v) {
    v.field("nodes", nodes, sim::between(1, net::kMostMachineNodes),
            "number of nodes, each with these GPUs and this fabric");
    v.field("gpus", gpus, sim::between(1, net::kMostGpus), "number of GPUs of a node");
    v.group("gpu", gpu);
    v.group("fabric", fabric);
    v.group("inc", inc);
    if (nodes == 1) return;  // a single node needs no way to others
    v.group("nic", nic);
    v.group("host", host);
    v.group("scale_out", scale_out);
  }
};

}  // namespace infold::gpu
