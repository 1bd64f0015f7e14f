// Reads the table of topologies by its parameters.
#include "net/topology/topology_parameters.h"

#include <algorithm>

#include "net/topology/topologies.h"

namespace infold::net {

std::vector<ShapeParameter> shape_parameters() {
  std::vector<ShapeParameter> all;
  for (const TopologyEntry& entry : kTopologies) {
    for (const std::string_view name : entry.parameters) {
      if (name.empty()) continue;
      auto at = std::ranges::find(all, name, &ShapeParameter::name);
      if (at == all.end()) at = all.insert(at, {name, {}});
      at->of.push_back(entry.topology);
    }
  }
  return all;
}

bool uses(Topology topology, std::string_view parameter) {
  for (const ShapeParameter& p : shape_parameters()) {
    if (p.name == parameter) return std::ranges::find(p.of, topology) != p.of.end();
  }
  return true;
}

}  // namespace infold::net
