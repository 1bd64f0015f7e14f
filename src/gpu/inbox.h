// Data on their last link to a GPU, until its memory has taken them.
//
// Data are written to memory when they arrive, but nobody is there to see it: whoever sent them is told by an
// acknowledgement, which is queued ahead of time. So they take no event of their own. What has arrived by
// then is written, in order of arrival, before anybody else's access to that memory, which is all that could
// tell the difference; and when the first credits can be back at the sender, so that none comes late.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/copy/move.h"
#include "gpu/memory/earliest.h"
#include "gpu/memory/memory_system.h"
#include "net/packet/network.h"
#include "net/packet/payloads.h"
#include "net/packet/ring_buffer.h"
#include "sim/event_queue.h"

namespace infold::gpu {

class Inbox final : public sim::Handler {
 public:
  /// `payloads`: null when values are off. `lanes`: links into this GPU. `latency`: the least of theirs.
  Inbox(sim::EventQueue& events, net::Network& network, MemorySystem& memory, MoveTable& moves,
        net::Payloads* payloads, int lanes, sim::Time latency);
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Whether it takes data at all. (A burst is rare enough to have its event; its acknowledgement can mostly
  /// leave then and there, without one. With more links than are told apart here, packets have theirs too.)
  bool takes_data() const { return takes_data_; }
  /// Requires: takes_data(), and by each link data arrive in the order in which they are added.
  void add(const net::Packet& packet, net::Link& in);
  /// Writes what has arrived by now. For the memory; others ask that to catch up.
  void take_in(sim::Time now);
  /// Functional mode: hands a packet's values to whoever asked for its move.
  void consume(const Move& move, const net::Packet& packet) {
    if (payloads_ != nullptr) give_values(move, packet);
  }

 private:
  /// What is on one link.
  struct Lane {
    net::Link* link = nullptr;
    net::RingBuffer<net::Packet> packets;
  };

  void handle(std::uint32_t event) override;
  void wake_for(sim::Time arrival);
  void give_values(const Move& move, const net::Packet& packet);

  bool takes_data_;
  Earliest heads_;  // by lane: when its first packet arrives
  std::vector<Lane> lanes_;
  MoveTable& moves_;
  MemorySystem& memory_;
  net::Network& network_;
  net::Payloads* payloads_;
  sim::EventQueue& events_;
  sim::Time latency_;                    // the least of a link: so long credits need to get back
  sim::Time wake_ = sim::Time::never();  // an event for another time is stale
};

}  // namespace infold::gpu
