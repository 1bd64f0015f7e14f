// Leaves and spines, and the union of all nodes with them.
#include "net/topology/scale_out.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/topology/topologies.h"

namespace infold::net {

sim::Result<Blueprint> draw_scale_out(const ScaleOutSpec& spec, const NicPorts& ports, int nodes, int nics) {
  const std::int64_t all_nics = std::int64_t{nodes} * nics;
  if (auto ok = within_bounds("nodes", all_nics, all_nics); !ok) return sim::fail(ok.error());
  const int units = (nodes + spec.nodes_per_leaf - 1) / spec.nodes_per_leaf;
  const bool rails = spec.shape == ScaleOutShape::kRails;
  const std::int64_t leaves = std::int64_t{units} * (rails ? nics : 1);
  // A single leaf has nothing that spines could join.
  const int spines = leaves > 1 ? spec.spines : 0;
  const std::int64_t cables = all_nics + leaves * spines * spec.uplinks;
  if (auto ok = within_bounds("scale_out.spines", all_nics + leaves + spines, cables); !ok)
    return sim::fail(ok.error());

  const auto first_leaf = static_cast<int>(all_nics);
  const int first_spine = first_leaf + static_cast<int>(leaves);
  Blueprint b = chips(first_leaf, static_cast<int>(leaves) + spines);
  const LinkKind kind = spec.kind == ScaleOutKind::kInfiniBand ? LinkKind::kInfiniBand : LinkKind::kEthernet;
  const LinkType port{.kind = kind,
                      .rate = ports.rate,
                      .latency = spec.link.latency,
                      .error_distance = spec.link.error_distance,
                      .packet = ports.packet};
  LinkType trunk = port;
  trunk.rate = spec.link.rate;
  b.link_types = {port, trunk};
  ChipType nic = spec.switch_chip;
  nic.latency = {};
  b.chip_types = {spec.switch_chip, nic};
  b.cables.reserve(static_cast<std::size_t>(cables));
  for (int node = 0; node < nodes; ++node) {
    const int unit = node / spec.nodes_per_leaf;
    for (int nic_of_node = 0; nic_of_node < nics; ++nic_of_node) {
      const int leaf = rails ? unit * nics + nic_of_node : unit;
      join(b, node * nics + nic_of_node, first_leaf + leaf, 1, 0);
    }
  }
  for (int leaf = 0; leaf < static_cast<int>(leaves); ++leaf) {
    for (int spine = 0; spine < spines; ++spine)
      join(b, first_leaf + leaf, first_spine + spine, spec.uplinks, 1);
  }
  return b;
}

namespace {
/// Copies the tables of one drawing behind those of another. Returns how many link types stood there before.
template <class Type, class Id>
Id append(std::vector<Type>& all, const std::vector<Type>& more) {
  const auto first = static_cast<Id>(all.size());
  all.insert(all.end(), more.begin(), more.end());
  return first;
}
}  // namespace

sim::Result<Blueprint> whole_machine(const Blueprint& node, int nodes, const LinkType& bus,
                                     const Blueprint& scale_out) {
  const std::int64_t gpus = std::int64_t{nodes} * node.gpus;
  const std::int64_t switches = std::int64_t{nodes} * node.switches;
  const std::int64_t cables = std::int64_t{nodes} * static_cast<std::int64_t>(node.cables.size()) + gpus +
                              static_cast<std::int64_t>(scale_out.cables.size());
  if (auto ok = within_bounds("nodes", gpus + switches + scale_out.nodes(), cables); !ok)
    return sim::fail(ok.error());
  Blueprint all = chips(static_cast<int>(gpus), static_cast<int>(switches) + scale_out.nodes());
  all.gpus_per_node = node.gpus;
  all.style = node.style;
  all.link_types = node.link_types;
  all.chip_types = node.chip_types;
  const auto bus_type = append<LinkType, LinkTypeId>(all.link_types, {bus});
  const auto out_types = append<LinkType, LinkTypeId>(all.link_types, scale_out.link_types);
  const auto out_chips = append<ChipType, ChipTypeId>(all.chip_types, scale_out.chip_types);
  all.cables.reserve(static_cast<std::size_t>(cables));
  for (int n = 0; n < nodes; ++n) {
    const auto here = [&](NodeId chip) {
      return node.is_gpu(chip) ? n * node.gpus + chip
                               : static_cast<int>(gpus) + n * node.switches + (chip - node.gpus);
    };
    for (NodeId chip = 0; chip < node.nodes(); ++chip) {
      all.chip[index_of(here(chip))] = node.chip[index_of(chip)];
      all.spread_divisor[index_of(here(chip))] = node.spread_divisor[index_of(chip)];
    }
    for (const Cable& c : node.cables) join(all, here(c.a), here(c.b), 1, c.type);
  }
  const int first_nic = static_cast<int>(gpus + switches);
  for (int gpu = 0; gpu < all.gpus; ++gpu) join(all, gpu, first_nic + gpu, 1, bus_type);
  for (NodeId chip = 0; chip < scale_out.nodes(); ++chip) {
    const std::size_t at = index_of(first_nic + chip);
    all.roles[at] = scale_out.is_gpu(chip) ? NodeRole::kNic : NodeRole::kSwitch;
    all.chip[at] = static_cast<ChipTypeId>(out_chips + scale_out.chip[index_of(chip)]);
  }
  for (const Cable& c : scale_out.cables)
    join(all, first_nic + c.a, first_nic + c.b, 1, static_cast<LinkTypeId>(out_types + c.type));
  return all;
}

}  // namespace infold::net
