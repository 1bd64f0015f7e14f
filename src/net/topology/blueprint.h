// A blueprint is a fabric before it is built: which chips there are and which cables join them.
// Topology builders draw it, the router reads it, the network is built from it.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "net/topology/fabric_spec.h"

namespace infold::net {

/// GPUs come first (0 .. gpus-1), then the switches.
using NodeId = std::uint16_t;

/// One physical cable: a link in each direction. Link 2i runs a to b, link 2i+1 runs b to a, for cable i.
struct Cable {
  NodeId a;
  NodeId b;
};

/// How the router finds its way; each is free of deadlock for the topologies it is used on.
enum class RoutingStyle {
  kShortest,  ///< all shortest paths that go up first and then down, one layer (switches, trees, full mesh)
  kDimensionOrder,  ///< torus and ring: one dimension after the other, two layers with a dateline
  kByDistance,      ///< one shortest path, layer = hops still to go - 1 (cube mesh)
};

struct Blueprint {
  int gpus = 0;
  int switches = 0;
  std::vector<Cable> cables;  ///< in lane order: a GPU's k-th cable in this list is its lane k
  /// Per node: a packet with spread value s leaves over candidate (s / divisor) % candidates.
  std::vector<std::uint16_t> spread_divisor;
  RoutingStyle style = RoutingStyle::kShortest;
  std::vector<int> dims;  ///< for kDimensionOrder: sides, first one fastest; a ring is {n}

  int nodes() const { return gpus + switches; }
  bool is_gpu(NodeId n) const { return n < gpus; }
};

/// Draws the fabric for that many GPUs, or says which parameter makes it impossible.
/// Bounded: at most 4096 nodes and 60,000 links.
std::variant<Blueprint, sim::Refusal> draw(const FabricSpec& spec, int gpus);

}  // namespace infold::net
