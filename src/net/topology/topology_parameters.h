// Which parameters of a fabric shape which topology. What shapes another one only would be ignored, so a user
// who writes it is told.
#pragma once

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
std::vector<ShapeParameter> shape_parameters();

/// Whether fabrics of that topology depend on the parameter.
bool uses(Topology topology, std::string_view parameter);

}  // namespace infold::net
