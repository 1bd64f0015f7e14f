// What a cable or a chip of a fabric is like: the attributes that each link and each node owns. A blueprint
// keeps them in tables and an index per cable and per node, because few of them differ.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "net/topology/fabric_spec.h"

namespace infold::net {

enum class LinkKind : std::uint8_t { kNvLink, kXgmi, kPcie, kInfiniBand, kEthernet };

inline constexpr std::array kLinkKindNames = {
    sim::Named{LinkKind::kNvLink, "nvlink", "between NVIDIA GPUs and their switches"},
    sim::Named{LinkKind::kXgmi, "xgmi", "between AMD GPUs"},
    sim::Named{LinkKind::kPcie, "pcie", "between devices, PCIe switches and the host"},
    sim::Named{LinkKind::kInfiniBand, "infiniband", "between machines"},
    sim::Named{LinkKind::kEthernet, "ethernet", "between machines"},
};
constexpr std::span<const sim::Named<LinkKind>> names_of(LinkKind) {
  return kLinkKindNames;
}

/// What stands at an end of a cable.
enum class NodeRole : std::uint8_t { kGpu, kSwitch, kNic, kHost };

/// Each direction of a cable of this type.
struct LinkType {
  LinkKind kind = LinkKind::kNvLink;
  sim::Bandwidth rate = LinkSpec{}.rate;
  sim::Time latency = LinkSpec{}.latency;
  sim::Bytes error_distance = {};  ///< mean bytes between bit errors; 0: none
  /// Header and acknowledgement are the link's own. The payload limit must be that of every other link in
  /// the fabric: a packet is cut once, at its source, and never again.
  PacketSpec packet = {};
};

/// The ports of a node: what receives from its links and passes on. (For a GPU the latency is 0: a packet
/// that passes through one is in its outputs at once.)
using ChipType = SwitchSpec;

/// Index into Blueprint::link_types. The cost of a packet on each type of link stands inside the Network,
/// where every hop reads it, so there are few.
using LinkTypeId = std::uint8_t;
inline constexpr std::size_t kMostLinkTypes = 8;
/// Index into Blueprint::chip_types.
using ChipTypeId = std::uint8_t;

}  // namespace infold::net
