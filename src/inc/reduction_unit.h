// The reduction unit of one switch. It sums contributions that are pushed or asked for, copies results and
// multicasts to all members, and has a policy for each difficult case (inc/policy_*.h).
//
// A packet for the unit keeps its space in its input buffer until the ALUs have taken it or, if it is passed
// on, until every copy has left. A packet that finds no room therefore fills its input buffer, and the
// pressure spreads back to its sender over credits, as in any switch.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "inc/inc_spec.h"
#include "inc/outgoing.h"
#include "inc/reduction_table.h"
#include "inc/regions.h"
#include "inc/stalled.h"
#include "net/fabric.h"
#include "net/packet/payloads.h"
#include "net/switch_unit.h"
#include "net/topology/fabric_map.h"
#include "sim/event_queue.h"
#include "sim/pool.h"
#include "sim/ring_buffer.h"

namespace infold::inc {

class ReductionUnit final : public net::SwitchUnit, public sim::Handler {
 public:
  /// `payloads` is null when packets carry no values.
  ReductionUnit(net::NodeId chip, const IncSpec& spec, sim::EventQueue& events, const net::FabricMap& map,
                net::SwitchFabric& fabric, const Regions& regions, net::Payloads* payloads);

  /// Counters of one port.
  struct PortCounters {
    std::uint64_t contributions = 0;  ///< added to a sum
    std::uint64_t results = 0;        ///< sums that were completed
    std::uint64_t stalls = 0;         ///< contributions and requests that had to wait for room
    std::uint64_t evictions = 0;      ///< partial sums sent to home GPUs
    std::uint64_t bypasses = 0;       ///< contributions sent to home GPUs unsummed
  };
  net::NodeId chip() const { return chip_; }
  std::size_t ports() const { return ports_.size(); }
  const PortCounters& counters(std::size_t port) const { return ports_[port].counters; }
  const std::uint64_t& table_peak(std::size_t port) const {
    return table_.peak(static_cast<std::uint32_t>(port));
  }
  /// How often a packet of one job found no room in a table of which another, or the same, had most.
  struct Stall {
    int job = 0;
    int holder = 0;
    std::uint64_t times = 0;
  };
  const std::vector<Stall>& stalls_by_job() const { return stalls_by_job_; }
  const std::vector<JobShare>& jobs(std::size_t port) const {
    return table_.jobs(static_cast<std::uint32_t>(port));
  }
  /// Entries in use now, over all ports.
  std::uint64_t entries_in_use() const;
  /// Packets that wait for room in a table now, over all ports.
  std::uint64_t packets_stalled() const { return stalled_.packets(); }
  /// Whether there is no entry, no held packet and no outstanding acknowledgement.
  bool drained() const;
  /// "switch2 port 3: block 4096 of region 0 has 7 of 16 contributions; rank 5, 6, ... not there" for each.
  void who_waits(std::vector<std::string>& out) const;

 private:
  enum Event : std::uint32_t {
    kComplete,
    kLeft,
    kPatience,
    kRemind
  };  // stored in the top bits; the bits below say what it concerns
  static constexpr int kEventShift = 28;

  struct Port {
    sim::Time alu_free;
    sim::Bytes results;                 // bytes in its result buffer
    sim::RingBuffer<EntryId> complete;  // complete sums that wait for room in the result buffer
    bool patience_running = false;
    PortCounters counters;
  };
  /// A packet on its way to the unit, with an event for its arrival.
  struct Reminder {
    net::Packet packet;
    net::NodeId from = 0;
  };
  /// The acknowledgements of a multicast that are still to come, and where to report when all have arrived.
  struct Gather {
    Key key = 0;
    std::uint32_t left = 0;
    net::Packet packet;
    net::LinkId back = net::kNoLink;
    sim::Time latest;
  };

  // net::SwitchUnit
  void arrive(const net::Packet& packet, net::LinkId in) override;
  void expect(const net::Packet& packet, net::LinkId in) override;
  void departed(const net::Packet& packet, sim::Time end) override;
  void handle(std::uint32_t event) override;

  // Push: unit_push.cpp.
  void push(const net::Packet& packet, net::LinkId in);
  EntryId open_push(const net::Packet& packet, std::uint32_t port);
  void remind(const net::Packet& packet, net::NodeId from);
  void pass_home(const Held& held);
  void evict(EntryId id);
  void lose_patience(std::uint32_t port);
  void watch_patience(std::uint32_t port);

  // Pull: unit_pull.cpp.
  void request(const net::Packet& packet, net::LinkId in);
  EntryId open_pull(const net::Packet& packet, net::LinkId in, std::uint32_t port);
  void ask_members(const net::Packet& packet, net::LinkId in);
  void reply(const net::Packet& packet, net::LinkId in);

  // Multicast: unit_multicast.cpp.
  void multicast(const net::Packet& packet, net::LinkId in);
  void spread_result(const net::Packet& packet, net::LinkId in);
  void acknowledge(const net::Packet& packet, net::LinkId in, sim::Time at);

  // The table: unit_table.cpp.
  bool room_for(std::uint32_t port, const Region& region) const;
  bool result_room(std::uint32_t port) const;
  void stall(const net::Packet& packet, net::LinkId in, std::uint32_t port, bool push);
  void serve_stalled(std::uint32_t port);
  bool make_room(std::uint32_t port, const Region& region);
  void take(EntryId id, const net::Packet& packet, net::LinkId in);
  void add(EntryId id, const net::Packet& packet, net::LinkId in);
  void complete(EntryId id);
  void emit(EntryId id);

  // Sending: unit_send.cpp.
  std::uint16_t hold(const net::Packet& packet, net::LinkId in, int copies);
  std::uint16_t hold_result(std::uint32_t port, std::uint16_t payload, int copies);
  void copy_values(net::Packet& packet, std::uint16_t slot);
  void send(net::Packet packet, net::LinkId out, std::uint16_t slot, sim::Time ready);
  void send_routed(net::Packet packet, net::NodeId gpu, std::uint16_t slot, sim::Time ready);
  void left(std::uint16_t slot);
  bool goes_up(const net::Packet& packet, const TreeNode& node, net::LinkId in) const;
  bool goes_down(const net::Packet& packet, const TreeNode::Child& child, net::LinkId in) const;
  int copies_onward(const net::Packet& packet, net::LinkId in) const;
  void send_onward(const net::Packet& packet, net::LinkId in, int copies);

  std::uint32_t port_of(net::LinkId out) const { return port_of_link_[out]; }
  net::LinkId towards(net::NodeId gpu, std::uint16_t way) const { return map_.next(chip_, gpu, way); }
  /// Sums that are pushed are spread over the ports by a hash of the number of the block; every round of
  /// blocks uses each port once.
  std::uint32_t home_port(const net::Packet& packet) const;
  const TreeNode& node_of(const Region& region, std::uint16_t way) const {
    return region.tree(way).at(chip_);
  }
  const Region& region_of(const net::Packet& packet) const { return regions_[Tag::of(packet.flow()).region]; }

  net::NodeId chip_;
  const IncSpec& spec_;
  sim::EventQueue& events_;
  const net::FabricMap& map_;
  net::SwitchFabric& fabric_;
  const Regions& regions_;
  net::Payloads* payloads_;
  sim::Pace alu_pace_;
  sim::Pace switch_alu_pace_;
  sim::Time switch_alu_free_;
  std::vector<std::uint32_t> port_of_link_;
  std::vector<Port> ports_;
  std::uint32_t capacity_;
  ReductionTable table_;
  Stalled stalled_;
  Outgoing outgoing_;
  std::vector<Stall> stalls_by_job_;  // a list, because there are few
  sim::Pool<Gather> gathers_;
  KeyIndex gather_index_;
  sim::Pool<Reminder> reminders_;
  std::vector<std::byte> scratch_;
  sim::StablePool<std::vector<Held>> lists_;  // of packets that no longer wait for room
};

}  // namespace infold::inc
