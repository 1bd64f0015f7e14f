// Data on its last link to a GPU, until the GPU has taken it in.
//
// Data is written to memory when it arrives, but in most cases nothing observes that: the sender learns of it
// by an acknowledgement, which is queued ahead of time. Such data has no event of its own. It waits here and
// is handed over in order of arrival, each packet with its own time: before anything else accesses that
// memory (Port::catch_up), which is all that could tell the difference, and at the latest when the first of
// its credits can be back at the sender, so that none comes late.
#pragma once

#include <cstdint>
#include <vector>

#include "net/fabric.h"
#include "net/packet/earliest.h"
#include "net/packet/packet.h"
#include "sim/event_queue.h"
#include "sim/ring_buffer.h"

namespace infold::net {

class Link;
class Network;

class PacketPort final : public Port, public sim::Handler {
 public:
  /// `links` is the number of links into this GPU, and `latency` the least of theirs.
  PacketPort(sim::EventQueue& events, Network& network, int links, sim::Time latency);

  void attach(Endpoint& endpoint) { endpoint_ = &endpoint; }
  Endpoint& endpoint() const { return *endpoint_; }

  /// Whether it lets data wait at all. A burst is rare enough to have its event, and its acknowledgement can
  /// mostly leave at that moment without one. With more links than Earliest tells apart, packets have their
  /// events too.
  bool lets_data_wait() const { return lets_data_wait_; }
  /// Data that does not wait came by `in` and is here now.
  void receive(const Packet& packet, Link& in);
  /// Data is on its last link, `in`. Returns whether the port hands it over by itself; otherwise the link
  /// must deliver it. Requires: lets_data_wait(), and over each link data arrives in the order of these
  /// calls.
  bool expect_data(const Packet& packet, Link& in) {
    if (!endpoint_->expect_data(packet)) return false;
    keep(packet, in);
    return true;
  }

  /// Bytes of data that the endpoint has.
  std::uint64_t payload_received() const { return payload_received_; }

 private:
  /// The data that is on one link, the first to arrive first.
  struct Lane {
    Link* link = nullptr;
    sim::RingBuffer<Packet> packets;
  };

  void keep(const Packet& packet, Link& in);
  void hand_over(sim::Time now) override;
  void handle(std::uint32_t event) override;
  void wake_for(sim::Time arrival);

  Endpoint* endpoint_ = nullptr;
  bool lets_data_wait_;
  Earliest heads_;  // by lane: when its first packet arrives
  std::vector<Lane> lanes_;
  Network& network_;
  std::uint64_t payload_received_ = 0;
  sim::EventQueue& events_;
  sim::Time latency_;                    // the least of a link: credits take at least as long to get back
  sim::Time wake_ = sim::Time::never();  // an event for another time is stale
};

}  // namespace infold::net
