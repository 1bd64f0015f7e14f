// The shape of the links between the GPUs of a topology file, as far as it is one that machines here can
// have.
#pragma once

#include <string>
#include <vector>

#include "formats/notes.h"
#include "formats/topology/nccl_topology.h"
#include "net/topology/fabric_spec.h"

namespace infold::formats {

struct TopologyShape {
  net::Topology topology = net::Topology::kSwitchPlanes;
  std::vector<int> links_per_plane;  ///< switch-planes
  int links_per_neighbour = 1;       ///< full-mesh, ring
  int groups = 1;                    ///< pcie-tree
  double pcie = 0;                   ///< pcie-tree: bytes per second of a link; 0: not said
};

/// Requires: the file says the links of its GPUs. Refuses shapes that are none of ours, with the place of a
/// link or GPU.
sim::Result<TopologyShape> find_shape(const Topology& topology, const std::string& file, Notes& notes);

}  // namespace infold::formats
