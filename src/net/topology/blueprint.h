// A blueprint is a fabric before it is built: which chips there are, which cables join them, and what each
// is like. Topology builders draw it, the router reads it, the network is built from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/topology/fabric_spec.h"
#include "net/topology/link_type.h"
#include "sim/result.h"

namespace infold::net {

/// GPUs come first (0 .. gpus-1), then everything else. Packets keep ids in 24 bits (net/packet/packet.h).
using NodeId = std::int32_t;
/// A node as an index into what is kept per node.
constexpr std::size_t index_of(NodeId node) {
  return static_cast<std::size_t>(node);
}

using LinkId = std::uint32_t;
inline constexpr LinkId kNoLink = 0xffff'ffff;

/// One physical cable: a link in each direction. Link 2i runs a to b, link 2i+1 runs b to a, for cable i.
struct Cable {
  NodeId a;
  NodeId b;
  LinkTypeId type = 0;
};

/// How the router finds its way; each is free of deadlock for the topologies it is used on.
enum class RoutingStyle {
  kShortest,  ///< all shortest paths that go up first and then down, one layer (switches, trees, full mesh)
  kDimensionOrder,  ///< torus and ring: one dimension after the other, two layers with a dateline
  kByDistance,      ///< one shortest path, layer = hops still to go - 1 (cube mesh)
};

struct Blueprint {
  int gpus = 0;
  int switches = 0;           ///< nodes that are no GPUs: switches, NICs, hosts
  int gpus_per_node = 0;      ///< of a machine of several nodes, in order; 0: all GPUs are in one
  std::vector<Cable> cables;  ///< in lane order: a GPU's k-th cable in this list is its lane k
  /// Per node: a packet with spread value s leaves over candidate (s / divisor) % candidates.
  std::vector<std::uint16_t> spread_divisor;
  RoutingStyle style = RoutingStyle::kShortest;
  std::vector<int> dims;  ///< for kDimensionOrder: sides, first one fastest; a ring is {n}

  std::vector<LinkType> link_types = {LinkType{}};
  std::vector<ChipType> chip_types = {ChipType{}, ChipType{.latency = {}}};
  std::vector<NodeRole> roles;   ///< per node
  std::vector<ChipTypeId> chip;  ///< per node

  int nodes() const { return gpus + switches; }
  bool is_gpu(NodeId n) const { return n < gpus; }
  bool several_nodes() const { return gpus_per_node > 0; }
  /// In which node of the machine a GPU is.
  int node_of(int gpu) const { return several_nodes() ? gpu / gpus_per_node : 0; }
  NodeRole role(NodeId n) const { return roles[static_cast<std::size_t>(n)]; }
  const LinkType& type_of(const Cable& c) const { return link_types[c.type]; }
  const ChipType& chip_of(NodeId n) const { return chip_types[chip[static_cast<std::size_t>(n)]]; }
};

/// "gpu3", or "switch0" for what comes behind the GPUs, of which there are `gpus`.
std::string node_name(NodeId node, int gpus);

/// What holds for all links or chips of a fabric, for those who size things by the worst of them.
sim::Bytes smallest_buffer(const Blueprint& blueprint);
sim::Bytes largest_header(const Blueprint& blueprint);
sim::Bandwidth fastest_link(const Blueprint& blueprint);
/// Of every packet of data that an SM stores. Requires: check_links(blueprint).
inline sim::Bytes packet_payload(const Blueprint& blueprint) {
  return blueprint.link_types.front().packet.payload;
}

/// A blueprint of chips without cables, all of which spread packets by the plain spread value. Its tables
/// have one type of link, of switch and of GPU port.
Blueprint chips(int gpus, int switches);

/// Adds parallel cables between two chips, behind those already drawn.
void join(Blueprint& blueprint, int a, int b, int cables = 1, LinkTypeId type = 0);

/// Draws the fabric for that many GPUs, or says which parameter makes it impossible. Bounded before anything
/// is allocated (kMaxNodes, kMaxLinks in net/topology/topologies.h).
sim::Result<Blueprint> draw(const FabricSpec& spec, int gpus);

/// Whether the tables of a blueprint agree with each other: payload limits, types that exist, and packets
/// that fit the buffers they pass.
sim::Status check_links(const Blueprint& blueprint);

}  // namespace infold::net
