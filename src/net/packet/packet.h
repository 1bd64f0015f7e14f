// What travels over a link: one packet, or a burst of consecutive packets of one flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/units.h"

namespace infold::net {

/// Names the values that a packet carries in functional mode (net/packet/payloads.h).
using ValuesId = std::uint32_t;

enum class PacketKind : std::uint8_t {
  kWrite,   ///< data that an SM stores into the destination's memory; answered by an acknowledgement
  kAck,     ///< "your write is visible"
  kSignal,  ///< a flag or a counter written after the data it announces; not acknowledged
  // The kinds that a switch with a unit acts on (net/switch_unit.h).
  kReduceWrite,     ///< a contribution that is pushed: to be summed in the switches
  kMulticastWrite,  ///< data for every member of a group; answered by one acknowledgement
  kLoadReduce,      ///< asks for the sum over a group; the switches ask every member in its name
  kReply,           ///< a member's contribution to a sum that was asked for
  kResult,          ///< a finished sum, on its way to who wants it
  kPartial,         ///< a sum of some contributions, for the GPU that finishes it
  kReminder,        ///< asks the switches for what they still hold of a sum
  kUnitAck,         ///< between GPU and unit: a contribution is taken, a result or multicast is visible
};
inline constexpr std::size_t kPacketKinds = 11;

/// Message classes have buffers and arbitration of their own, so that none waits behind another. The last
/// two exist only where switches have units.
enum class PacketClass : std::uint8_t { kControl, kData, kRequest, kContribution };
inline constexpr int kPacketClasses = 4;
inline constexpr int kPlainClasses = 2;  ///< of a fabric whose switches only pass packets on
/// Layers of virtual channels that routing may need (see RoutingStyle).
inline constexpr int kMostLayers = 2;

inline constexpr std::array<PacketClass, kPacketKinds> kClassOfKind = {
    PacketClass::kData,          // write
    PacketClass::kControl,       // ack
    PacketClass::kControl,       // signal
    PacketClass::kContribution,  // reduce-write
    PacketClass::kData,          // multicast-write
    PacketClass::kRequest,       // load-reduce
    PacketClass::kContribution,  // reply
    PacketClass::kData,          // result
    PacketClass::kData,          // partial
    PacketClass::kControl,       // reminder: must get through where requests wait for a table
    PacketClass::kControl,       // unit ack
};
constexpr PacketClass class_of(PacketKind kind) {
  return kClassOfKind[static_cast<std::size_t>(kind)];
}

/// A number of 24 bits, without holes around it. Reads as what it was given.
template <class T>
class [[gnu::packed]] Packed24 {
 public:
  constexpr Packed24() = default;
  constexpr Packed24(T value)  // NOLINT: it stands for the value
      : low_(static_cast<std::uint16_t>(value)), high_(static_cast<std::uint8_t>(value >> 16)) {}
  constexpr operator T() const { return static_cast<T>(low_ | std::uint32_t{high_} << 16); }  // NOLINT

 private:
  std::uint16_t low_ = 0;
  std::uint8_t high_ = 0;
};

/// One packet, or several consecutive ones of a flow: a burst, which travels as one, or a train, which its
/// first link cuts into packets (which of the two is the network's choice, see Network::packet_by_packet).
/// Invariant: the packets of one never differ in kind, flow or next hop, and count one by one for
/// headers, acknowledgements, credits and statistics.
struct Packet {
  sim::Time arrives;       ///< when the chip it is bound for can act on it; kept by the links once it is sent
  std::uint32_t flow = 0;  ///< whose data these are; means something to the endpoints only
  std::uint32_t offset = 0;   ///< where in the flow, in bytes
  std::uint16_t payload = 0;  ///< bytes of data in all its packets
  std::uint16_t packets = 1;  ///< how many packets this stands for
  std::uint16_t spread = 0;   ///< picks one of several parallel links
  Packed24<NodeId> source = 0;
  Packed24<NodeId> destination = 0;
  Packed24<ValuesId> values = 0;             ///< means something in functional mode only
  PacketKind kind : 4 = PacketKind::kWrite;  ///< kPacketKinds fit
  std::uint8_t channel : 4 = 0;  ///< virtual channel of the buffer that holds it; kept by the links
};
static_assert(sizeof(Packet) == 32, "two packets in flight to a cache line");
/// Nodes, and values under way, that a packet can name.
inline constexpr std::int64_t kMaxNamed = std::int64_t{1} << 24;
/// Of a flag.
inline constexpr std::uint16_t kFlagBytes = 8;
inline constexpr std::int64_t kMaxPayload = 0xffff;

/// The bytes a packet takes on a wire of one type.
class WireCost {
 public:
  WireCost() = default;
  explicit WireCost(const PacketSpec& spec) : largest_(sim::max(spec.payload + spec.header, spec.ack)) {
    per_packet_.fill(static_cast<std::int32_t>(spec.header.count()));
    for (const PacketKind kind : {PacketKind::kAck, PacketKind::kUnitAck})
      per_packet_[static_cast<std::size_t>(kind)] = static_cast<std::int32_t>(spec.ack.count());
  }
  /// Packets of switches with units: requests without payload, and sums of up to `payload` bytes.
  void add_in_network(sim::Bytes payload, sim::Bytes header, sim::Bytes request) {
    for (const PacketKind kind : {PacketKind::kLoadReduce, PacketKind::kReminder})
      per_packet_[static_cast<std::size_t>(kind)] = static_cast<std::int32_t>(request.count());
    largest_ = sim::max(largest_, sim::max(payload + header, request));
  }
  /// Of what a GPU sends as control: an acknowledgement, or a flag.
  sim::Bytes largest_control() const {
    return sim::max(of_one(PacketKind::kAck, 0), of_one(PacketKind::kSignal, kFlagBytes));
  }
  /// The most that one packet takes: full of data, an acknowledgement, or a flag of eight bytes.
  sim::Bytes largest_packet() const { return largest_; }
  sim::Bytes of(const Packet& p) const {
    return sim::Bytes{p.payload + p.packets * per_packet_[static_cast<std::size_t>(p.kind)]};
  }
  /// The same of a single packet.
  sim::Bytes of_one(PacketKind kind, std::uint16_t payload) const {
    return sim::Bytes{payload + per_packet_[static_cast<std::size_t>(kind)]};
  }

 private:
  std::array<std::int32_t, kPacketKinds> per_packet_{};
  sim::Bytes largest_;
};

}  // namespace infold::net
