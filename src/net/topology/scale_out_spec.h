// The network between nodes, as a user writes it down: kind, shape, counts of switches, cables, switches. How
// NICs send stands in gpu/nic/nic_spec.h.
#pragma once

#include <array>
#include <span>
#include <string_view>

#include "net/topology/fabric_spec.h"
#include "net/topology/link_type.h"

namespace infold::net {

/// What a user may ask for; a machine of that many nodes must still fit kMaxNodes chips.
inline constexpr int kMostMachineNodes = 4096;

enum class ScaleOutKind { kInfiniBand, kRoce };

inline constexpr std::array kScaleOutKindNames = {
    sim::Named{ScaleOutKind::kInfiniBand, "infiniband",
               "lossless: a packet leaves when the far buffer has "
               "room (credits)"},
    sim::Named{ScaleOutKind::kRoce, "roce",
               "Ethernet without loss: as infiniband, for priority flow control "
               "is taken to hold packets back as credits do; no rate control"},
};
constexpr std::span<const sim::Named<ScaleOutKind>> names_of(ScaleOutKind) {
  return kScaleOutKindNames;
}

enum class ScaleOutShape { kRails, kLeafSpine };

inline constexpr std::array kScaleOutShapeNames = {
    sim::Named{ScaleOutShape::kRails, "rails",
               "rail-optimised: the n-th NICs of a unit of nodes share the unit's n-th leaf"},
    sim::Named{ScaleOutShape::kLeafSpine, "leaf-spine", "all NICs of a node are below the same leaf"},
};
constexpr std::span<const sim::Named<ScaleOutShape>> names_of(ScaleOutShape) {
  return kScaleOutShapeNames;
}

struct ScaleOutSpec {
  static constexpr std::string_view kAbout = "The network between nodes: leaf and spine switches.";
  ScaleOutKind kind = ScaleOutKind::kInfiniBand;
  ScaleOutShape shape = ScaleOutShape::kRails;
  int nodes_per_leaf = 32;
  int spines = 4;
  int uplinks = 8;
  LinkSpec link{.rate = 50_GBps, .latency = 100_ns, .error_distance = {}};
  SwitchSpec switch_chip{.latency = 200_ns, .buffer = 128_KiB, .speedup = 0};

  template <class V>
  void visit(V& v) {
    v.field("kind", kind, "what the cables carry");
    v.field("shape", shape, "how NICs are dealt out to leaf switches");
    v.field("nodes_per_leaf", nodes_per_leaf, sim::between(1, kMostMachineNodes),
            "nodes that share their leaves; rails: the unit of nodes");
    v.field("spines", spines, sim::between(1, 4096), "second-level switches");
    v.field("uplinks", uplinks, sim::between(1, 256),
            "cables from each leaf to each spine; fewer than NICs below the leaf / spines oversubscribe it");
    v.group("link", link);
    v.group("switch", switch_chip);
  }
};

/// How NICs meet this network: the rate of a port and how messages are cut into packets.
struct NicPorts {
  sim::Bandwidth rate;
  PacketSpec packet;
};

}  // namespace infold::net
