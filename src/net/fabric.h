// What the network is to those that use it: an endpoint (a GPU) sends through a Fabric, which calls it when
// something arrives or has left. Nothing above this room knows how packets travel; net/packet is the one
// implementation so far.
//
// A fabric may hand data over late. The sender of data learns of its arrival by an acknowledgement, which the
// endpoint may queue ahead of time, so in most cases nothing observes the arrival itself. The endpoint says
// so when it is told of the data (Endpoint::expect_data). Its port then keeps the data until the endpoint's
// memory is looked at (Port::catch_up), and spares an event per packet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "net/interleaving.h"
#include "net/packet/packet.h"
#include "net/switch_unit.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/check.h"
#include "sim/event_queue.h"
#include "sim/units.h"

namespace infold::net {

/// What stands at the end of a route: a GPU. Each packet of data leads to exactly one call of receive() or of
/// take_in(), each control packet to one of expect().
class Endpoint {
 public:
  /// A whole packet (or burst) of data is here now. Returns when its place in the port's buffer is free
  /// again, which is now or later.
  virtual sim::Time receive(const Packet& packet) = 0;
  /// A control packet is on its last link and will be here at packet.arrives, now or later.
  virtual void expect(const Packet& packet) = 0;
  /// Data is on its last link and will be here at packet.arrives. Returns true where nothing observes that
  /// moment: take_in() is then called for it instead of receive(). What answers the data may be sent now
  /// (Fabric::send_ack). A fabric that is never late does not ask.
  virtual bool expect_data(const Packet& /*packet*/) { return false; }
  /// Data for which expect_data() returned true was here at packet.arrives, now or earlier. Returns as
  /// receive() does. Calls come in order of arrival: before Port::catch_up returns for that time, and in time
  /// for the credits of the data.
  virtual sim::Time take_in(const Packet& packet) {
    INFOLD_CHECK(false, "an endpoint that lets data wait takes it in");
    return packet.arrives;
  }
  /// A packet that was sent from here, and is not control, has left for the wire.
  virtual void departed(const Packet& packet) = 0;

 protected:
  ~Endpoint() = default;
};

/// The place where an endpoint is attached: it keeps data that nothing observes until it matters.
class Port {
 public:
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  /// Guarantees: take_in() has been called for everything that was here by `now`. To be called before each
  /// access to what take_in() changes.
  void catch_up(sim::Time now) {
    if (*due_ <= now) hand_over(now);
  }
  /// From now on the port writes to `place` when the first data that it keeps is due. With that time in the
  /// cache line of the endpoint's memory, an access does not touch the port.
  void keep_due_in(sim::Time& place) {
    place = *due_;
    due_ = &place;
  }

 protected:
  Port() = default;
  ~Port() = default;
  virtual void hand_over(sim::Time now) = 0;
  void set_due(sim::Time due) { *due_ = due; }
  bool is_due(sim::Time now) const { return *due_ <= now; }

 private:
  sim::Time own_due_ = sim::Time::never();
  sim::Time* due_ = &own_due_;
};

/// What holds for a fabric as long as it exists.
struct FabricTraits {
  int gpus = 0;
  bool packet_by_packet = true;  ///< otherwise packets that are sent as one travel as a burst
  sim::Bytes packet_payload;     ///< most payload of a packet that an SM stores, on every link
  sim::Bytes max_burst;  ///< most payload that may be sent as one without distorting buffers: a quarter of
                         ///< the smallest
  Interleaving interleaving;
  int networks = 1;  ///< equal ones beside each other (net/separate_networks.h)
};

/// What crossed one link so far, and what is on its way.
struct LinkCounters {
  std::uint64_t wire_bytes = 0;
  std::uint64_t packets = 0;
  std::uint64_t replays = 0;  ///< packets that were sent again because of a bit error
  sim::Bytes in_flight;       ///< on the wire, or in the buffer at its end
};

class Fabric {
 public:
  /// Senders of one GPU that take turns at its links; more share a turn.
  static constexpr std::uint32_t kSenders = 63;
  /// Acknowledgements of a GPU take their turn as one, behind its senders.
  static constexpr std::uint32_t kAcks = kSenders;
  static constexpr std::uint32_t kOwnInputs = kSenders + 1;
  /// Numbers of senders that belong to one network, where there are several (FabricTraits::networks).
  static constexpr std::uint32_t kSendersOfNetwork = 1U << 16;
  /// The number under which a sender sends through one of the networks.
  static constexpr std::uint32_t through(int network, std::uint32_t sender) {
    return static_cast<std::uint32_t>(network) * kSendersOfNetwork + sender;
  }

  virtual ~Fabric() = default;
  Fabric(const Fabric&) = delete;
  Fabric& operator=(const Fabric&) = delete;

  const FabricTraits& traits() const { return traits_; }
  /// "gpu3", "switch0".
  std::string name(NodeId node) const;

  /// Makes `endpoint` the receiver of what is sent to this GPU. Both it and the fabric outlive the use of the
  /// port.
  virtual Port& attach(NodeId gpu, Endpoint& endpoint) = 0;

  /// Sends a packet that is at packet.source now. `sender` takes turns with the other senders of that GPU.
  /// Requires: packet.arrives is now, source != destination, payload at most traits().max_burst.
  virtual void send(const Packet& packet, std::uint32_t sender) = 0;
  /// Sends a control packet from packet.source that is there at packet.arrives, now or later.
  virtual void send_ack(const Packet& packet) = 0;
  /// Sends from packet.source, now, to the unit of the switch at the other end of the lane that packet.spread
  /// picks. Requires: switches have units, and GPUs are joined by switches only.
  virtual void send_to_unit(Packet packet, std::uint32_t sender) = 0;
  /// What the units of switches see of the fabric. Requires: it was built for units.
  virtual SwitchFabric& switches() = 0;
  /// The same of every network, where there are several.
  virtual std::vector<SwitchFabric*> all_switches() { return {&switches()}; }

  /// Nothing is in flight, and every credit is home.
  virtual bool quiet() const = 0;
  /// Chips that have had nothing to do forget whose turn it is, and return what they have gathered of
  /// credits. What is sent from now on takes as long as if it were the first. Requires: quiet().
  virtual void start_anew() = 0;
  /// One line for each link that has packets and cannot send them.
  virtual std::vector<std::string> who_waits() const = 0;

  virtual LinkCounters counters(LinkId link) const = 0;
  virtual std::uint64_t packets_sent() const = 0;
  virtual std::uint64_t packets_delivered() const = 0;
  virtual std::uint64_t packet_hops() const = 0;
  virtual std::uint64_t payload_sent(NodeId gpu) const = 0;
  virtual std::uint64_t payload_received(NodeId gpu) const = 0;

 protected:
  explicit Fabric(const FabricTraits& traits) : traits_(traits) {}

 private:
  FabricTraits traits_;
};

/// A fabric that simulates every packet (or burst), credit and acknowledgement.
/// Requires: prove_no_deadlock(blueprint, routes) and check_links(blueprint) found nothing; `routes` are
/// those of the blueprint; `blueprint`, `routes` and `events` outlive the fabric. Of `spec` only how
/// addresses are spread counts: what links and chips are like stands in the blueprint. `packet_by_packet`:
/// what is sent as several packets is cut up at its first link; otherwise it travels as a burst.
/// `in_network`: whether every switch has a unit; each must then be attached before anything is sent.
std::unique_ptr<Fabric> make_packet_fabric(sim::EventQueue& events, const Blueprint& blueprint,
                                           const Routes& routes, const FabricSpec& spec,
                                           bool packet_by_packet, const InNetwork& in_network = {});

}  // namespace infold::net
