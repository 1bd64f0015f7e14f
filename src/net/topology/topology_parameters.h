// Which parameters of a fabric shape which topology. What shapes another one only would be ignored, so a user
// who writes it is told.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "net/topology/fabric_spec.h"

namespace infold::net {

/// A parameter of FabricSpec by its name in visit(), and the topologies that it shapes.
struct ShapeParameter {
  std::string_view name;
  std::vector<Topology> of;
};

/// All that shape some topologies and not others.
inline std::vector<ShapeParameter> shape_parameters() {
  using enum Topology;
  return {{"planes", {kSwitchPlanes}},
          {"links_per_plane", {kSwitchPlanes}},
          {"failed_planes", {kSwitchPlanes}},
          {"links_per_neighbour", {kFullMesh, kRing, kTorus}},
          {"dims", {kTorus}},
          {"groups", {kFatTree, kPcieTree}},
          {"leaves_per_group", {kFatTree}},
          {"spines", {kFatTree}}};
}

/// Whether fabrics of that topology depend on the parameter.
inline bool uses(Topology topology, std::string_view parameter) {
  for (const ShapeParameter& p : shape_parameters()) {
    if (p.name == parameter) return std::ranges::find(p.of, topology) != p.of.end();
  }
  return true;
}

}  // namespace infold::net
