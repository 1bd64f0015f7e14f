// What travels over a link: one packet, or a burst of consecutive packets of one flow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/check.h"
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
  kResult,          ///< a finished sum, on its way to the GPUs that want it
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

constexpr bool is_control(PacketKind kind) {
  return class_of(kind) == PacketClass::kControl;
}

/// Nodes, and values under way, that a packet can name.
inline constexpr std::int64_t kMaxNamed = std::int64_t{1} << 24;

/// One packet, or several consecutive ones of a flow: a burst, which travels as one, or a train, which its
/// first link cuts into packets (which of the two is the network's choice, see Network::packet_by_packet).
/// Invariant: the packets of one never differ in kind, flow or next hop, and count one by one for
/// headers, acknowledgements, credits and statistics.
///
/// A field that only some kinds carry shares its place with a field of other kinds. Each field has a name of
/// its own, and debug builds check that it is only read from a packet that carries it.
class Packet {
 public:
  Packet() = default;
  explicit Packet(PacketKind kind) : marks_(static_cast<std::uint8_t>(kind)) {}

  /// The acknowledgement of a write, from its destination back to its source, at `at`.
  static Packet ack(const Packet& write, sim::Time at) {
    INFOLD_DCHECK(write.kind() == PacketKind::kWrite, "writes are acknowledged");
    Packet ack(PacketKind::kAck);
    ack.arrives = at;
    ack.flow_ = write.flow_;
    ack.place_ = write.payload_;
    ack.to_ = write.from_ & kName;
    ack.from_ = write.to_ & kName;
    ack.packets_ = write.packets_;
    ack.spread_ = write.spread_;
    return ack;
  }
  /// The acknowledgement of a packet between GPU and unit. It goes by the lane that the packet came by.
  static Packet unit_ack(const Packet& packet) {
    Packet ack(PacketKind::kUnitAck);
    ack.flow_ = packet.flow_;
    ack.place_ = packet.place_;
    ack.packets_ = packet.packets_;
    ack.spread_ = packet.spread_;
    return ack;
  }

  /// When the chip that the packet is bound for can act on it. Links keep it up to date once it is sent.
  sim::Time arrives;

  PacketKind kind() const { return static_cast<PacketKind>(marks_ & 0xfU); }
  void set_kind(PacketKind kind) {
    marks_ = static_cast<std::uint8_t>((marks_ & 0xf0U) | static_cast<std::uint8_t>(kind));
  }
  /// Bytes of data in all its packets.
  std::uint16_t payload() const { return payload_; }
  void set_payload(std::uint16_t bytes) { payload_ = bytes; }
  /// How many packets this stands for; none in a place without a packet.
  std::uint16_t packets() const { return packets_; }
  void set_packets(std::uint16_t packets) { packets_ = packets; }
  /// Picks one of several parallel links.
  std::uint16_t spread() const { return spread_; }
  void set_spread(std::uint16_t spread) { spread_ = spread; }
  NodeId destination() const { return static_cast<NodeId>(to_ & kName); }
  void set_destination(NodeId node) { to_ = (to_ & ~kName) | static_cast<std::uint32_t>(node); }
  /// What the packet is about: a move, a flag, or a region and the rank that contributes (inc/tag.h). Only
  /// endpoints and units read it.
  std::uint32_t flow() const { return flow_; }
  void set_flow(std::uint32_t flow) { flow_ = flow; }
  /// The virtual channel of the buffer that holds the packet. Links keep it up to date.
  std::uint8_t channel() const { return static_cast<std::uint8_t>(marks_ >> kChannelShift); }
  void set_channel(std::uint8_t channel) {
    marks_ = static_cast<std::uint8_t>((marks_ & kNotChannel) | unsigned{channel} << kChannelShift);
  }
  /// Names its values in functional mode (net/packet/payloads.h); means nothing otherwise.
  ValuesId values() const {
    return to_ >> 24 | (from_ >> 24) << 8 | static_cast<ValuesId>(values_top_) << 16;
  }
  void set_values(ValuesId values) {
    to_ = (to_ & kName) | values << 24;
    from_ = (from_ & kName) | (values >> 8) << 24;
    values_top_ = static_cast<std::uint8_t>(values >> 16);
  }

  /// The place of the data in the flow, in bytes. All kinds have one but acknowledgements of writes.
  std::uint32_t offset() const {
    INFOLD_DCHECK(kind() != PacketKind::kAck, "an acknowledgement has no place in the flow");
    return place_;
  }
  void set_offset(std::uint32_t offset) { place_ = offset; }
  /// How many bytes of the flow are visible. Only acknowledgements of writes say so.
  std::uint32_t acknowledged() const {
    INFOLD_DCHECK(kind() == PacketKind::kAck, "only acknowledgements acknowledge");
    return place_;
  }

  /// The GPU that sent the packet. Requires: no unit did.
  NodeId source() const {
    INFOLD_DCHECK(!from_unit(), "what a unit sends has no source");
    return static_cast<NodeId>(from_ & kName);
  }
  void set_source(NodeId node) {
    from_ = (from_ & ~kName) | static_cast<std::uint32_t>(node);
    marks_ = static_cast<std::uint8_t>(marks_ & ~kFromUnit);
  }
  /// The name by which a unit that sent the packet will know it when it has left.
  std::uint16_t ticket() const {
    INFOLD_DCHECK(from_unit(), "only units give tickets");
    return static_cast<std::uint16_t>(from_);
  }
  void set_ticket(std::uint16_t ticket) {
    from_ = (from_ & ~kName) | ticket;
    marks_ = static_cast<std::uint8_t>(marks_ | kFromUnit);
  }
  bool from_unit() const { return (marks_ & kFromUnit) != 0; }

  /// Takes the first packet, of `bytes` bytes, off a train. Requires: this is one, and has more bytes.
  Packet cut(std::uint16_t bytes) {
    Packet first = *this;
    first.payload_ = bytes;
    first.packets_ = 1;
    place_ += bytes;
    payload_ = static_cast<std::uint16_t>(payload_ - bytes);
    --packets_;
    return first;
  }
  /// Adds the packets that follow this one in its flow.
  void append(const Packet& more) {
    payload_ = static_cast<std::uint16_t>(payload_ + more.payload_);
    packets_ = static_cast<std::uint16_t>(packets_ + more.packets_);
  }

 private:
  static constexpr std::uint32_t kName = kMaxNamed - 1;
  // Of the marks. The channel, which every hop reads and writes, is at the top: one shift reads it.
  static constexpr std::uint32_t kFromUnit = 0x10;
  static constexpr int kChannelShift = 5;
  static constexpr std::uint32_t kNotChannel = (1U << kChannelShift) - 1;

  std::uint32_t flow_ = 0;
  std::uint32_t place_ = 0;  // offset, or what is acknowledged
  // Names of 24 bits at the lower end of a word, which is quick to read, with the name of the values above.
  std::uint32_t to_ = 0;
  std::uint32_t from_ = 0;  // source or ticket
  std::uint16_t payload_ = 0;
  std::uint16_t packets_ = 1;
  std::uint16_t spread_ = 0;
  std::uint8_t values_top_ = 0;
  std::uint8_t marks_ = 0;  // kind: 4 bits, whether a unit sent it: 1, channel: 3
};
static_assert(sizeof(Packet) == 32, "two packets in flight to a cache line");
static_assert(kPacketKinds <= 16 && kPacketClasses * kMostLayers <= 8, "kinds and channels fit");
/// The payload of a flag.
inline constexpr std::uint16_t kFlagBytes = 8;
inline constexpr std::int64_t kMaxPayload = 0xffff;

/// The bytes that a packet takes on a wire of one type. (Each type has a cache line, which a link finds by a
/// shift.)
class alignas(64) WireCost {
 public:
  WireCost() = default;
  explicit WireCost(const PacketSpec& spec) : largest_(sim::max(spec.payload + spec.header, spec.ack)) {
    per_packet_.fill(static_cast<std::int32_t>(spec.header.count()));
    for (const PacketKind kind : {PacketKind::kAck, PacketKind::kUnitAck})
      per_packet_[static_cast<std::size_t>(kind)] = static_cast<std::int32_t>(spec.ack.count());
  }
  /// Adds the packets of switches with units: requests without payload, and sums of up to `payload` bytes.
  void add_in_network(sim::Bytes payload, sim::Bytes header, sim::Bytes request) {
    for (const PacketKind kind : {PacketKind::kLoadReduce, PacketKind::kReminder})
      per_packet_[static_cast<std::size_t>(kind)] = static_cast<std::int32_t>(request.count());
    largest_ = sim::max(largest_, sim::max(payload + header, request));
  }
  /// The most that a GPU's control packet takes, which is an acknowledgement or a flag.
  sim::Bytes largest_control() const {
    return sim::max(of_one(PacketKind::kAck, 0), of_one(PacketKind::kSignal, kFlagBytes));
  }
  /// The most that any packet takes.
  sim::Bytes largest_packet() const { return largest_; }
  sim::Bytes of(const Packet& p) const {
    return sim::Bytes{p.payload() + p.packets() * per_packet_[static_cast<std::size_t>(p.kind())]};
  }
  /// The bytes that a single packet of a kind takes.
  sim::Bytes of_one(PacketKind kind, std::uint16_t payload) const {
    return sim::Bytes{payload + per_packet_[static_cast<std::size_t>(kind)]};
  }

 private:
  std::array<std::int32_t, kPacketKinds> per_packet_{};
  sim::Bytes largest_;
};

}  // namespace infold::net
