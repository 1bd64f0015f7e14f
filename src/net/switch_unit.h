// What a switch may have beside its crossbar: a unit that packets are handed to, and that sends packets of
// its own. The network knows no more of it than this (src/inc builds one that reduces and multicasts).
#pragma once

#include "net/packet/packet.h"
#include "sim/units.h"

namespace infold::net {

/// How a fabric differs whose switches have units. Off: no channels for it, and no cost.
struct InNetwork {
  bool units = false;
  sim::Bytes payload;  ///< most payload of a packet that units act on
  sim::Bytes request;  ///< bytes on the wire of a request, which has no payload
  sim::Time latency;   ///< the least time from an action of a unit to the arrival of what it sends
};

class SwitchUnit {
 public:
  /// A whole packet addressed to this switch is here. It keeps its place in the input buffer of `in` until
  /// SwitchFabric::release is called for it.
  virtual void arrive(const Packet& packet, LinkId in) = 0;
  /// A control packet is on its way over `in` and will be here at packet.arrives, now or later. Its place
  /// in the buffer is given back by the network.
  virtual void expect(const Packet& packet, LinkId in) = 0;
  /// A packet that the unit sent has left; its last byte leaves at `end`, now or later.
  virtual void departed(const Packet& packet, sim::Time end) = 0;

 protected:
  ~SwitchUnit() = default;
};

/// A fabric as the units of its switches see it. What they send is there from packet.arrives on, which is at
/// least InNetwork::latency from now.
class SwitchFabric {
 public:
  virtual void attach_unit(NodeId chip, SwitchUnit& unit) = 0;
  /// Sends over `out`, to the chip at its end.
  virtual void unit_send(const Packet& packet, LinkId out) = 0;
  /// Sends from the switch `at` to a GPU, on the ways of ordinary packets.
  virtual void unit_send_routed(const Packet& packet, NodeId at) = 0;
  /// The place that a packet handed to a unit had in the buffer of `in` is free from `at` on.
  virtual void release(const Packet& packet, LinkId in, sim::Time at) = 0;

 protected:
  ~SwitchFabric() = default;
};

}  // namespace infold::net
