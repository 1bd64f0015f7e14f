// The names and values of parameters come from FabricSpec::visit, and the topologies that they shape from
// net/topology.
#include "config/unused_parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "config/yaml/describe.h"
#include "net/topology/topology_parameters.h"
#include "study/system_spec.h"

namespace infold::config {

namespace {

constexpr std::string_view kFabric = "fabric.";

/// The parameters that shaped `fabric`, with other values than the defaults, and mean nothing to the topology
/// `now`.
std::vector<std::string> left_behind(const net::FabricSpec& fabric, net::Topology now) {
  study::SystemSpec system;
  const std::vector<Parameter> defaults = parameters(system);
  system.machine.fabric = fabric;
  const std::vector<Parameter> own = parameters(system);
  std::vector<std::string> paths;
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (!own[i].path.starts_with(kFabric) || own[i].value == defaults[i].value) continue;
    const std::string_view name = std::string_view(own[i].path).substr(kFabric.size());
    if (net::uses(fabric.topology, name) && !net::uses(now, name)) paths.push_back(own[i].path);
  }
  return paths;
}

std::vector<std::string> shape_of(net::Topology topology) {
  std::vector<std::string> paths;
  for (const net::ShapeParameter& p : net::shape_parameters()) {
    if (std::ranges::find(p.of, topology) != p.of.end())
      paths.push_back(fmt::format("{}{}", kFabric, p.name));
  }
  return paths;
}

}  // namespace

sim::Status check_used(const net::FabricSpec& fabric, std::string_view path) {
  if (!path.starts_with(kFabric)) return {};
  for (const net::ShapeParameter& p : net::shape_parameters()) {
    if (p.name != path.substr(kFabric.size()) || net::uses(fabric.topology, p.name)) continue;
    std::vector<std::string_view> names;
    for (const net::Topology t : p.of) names.push_back(sim::name_of(t));
    return sim::fail(fmt::format("{}: the topology {} has no use for it; it shapes {}", path,
                                 sim::name_of(fabric.topology), fmt::join(names, ", ")));
  }
  return {};
}

sim::Status check_used(const net::FabricSpec& before, const net::FabricSpec& after,
                       std::span<const std::string_view> paths) {
  for (const std::string_view path : paths) {
    if (auto used = check_used(after, path); !used) return used;
  }
  const std::vector<std::string> left = left_behind(before, after.topology);
  const std::vector<std::string> shape = shape_of(after.topology);
  const bool said = std::ranges::any_of(
      shape, [&](const std::string& s) { return std::ranges::find(paths, s) != paths.end(); });
  if (left.empty() || shape.empty() || said) return {};
  return sim::fail(fmt::format(
      "fabric.topology: {} has no use for what the system says of {} ({}); set its own shape too: {}",
      sim::name_of(after.topology), sim::name_of(before.topology), fmt::join(left, ", "),
      fmt::join(shape, ", ")));
}

}  // namespace infold::config
