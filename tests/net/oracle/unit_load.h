// A random load for the units of switches, and what simple units make of it: they sum what is pushed, ask
// for what is pulled, and multicast; those with a switch above them sometimes pass it on.
//
// A packet is named by its flow and its number (Packet::offset). What a unit sends, it sends in an order that
// does not depend on the order in which a simulator hands it what arrives in one picosecond.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "load.h"
#include "machines.h"
#include "neighbours.h"

namespace infold::net::oracle {

class UnitLoad {
 public:
  UnitLoad(const Machine& machine, std::uint64_t seed, bool bursts)
      : random_(sim::mix(seed + 77)),
        gpus_(machine.blueprint.gpus),
        latency_(machine.in_network.latency + sim::Time::ps(support::any_of(random_, {0, 0, 7'777}))),
        most_hold_(support::any_of(random_, {1, 1'000, 60'000})),
        chips_(neighbours_of(machine.blueprint)),
        units_(chips_.size()) {
    std::vector<NodeId> with_gpus;
    for (NodeId chip = gpus_; chip < machine.blueprint.nodes(); ++chip) {
      if (!of(chip).gpus.empty()) with_gpus.push_back(chip);
    }
    const std::int64_t payload = machine.in_network.payload.count();
    const int span = support::any_of(random_, {100, 1'000, 3'000});
    flows_.resize(static_cast<std::size_t>(support::pick(random_, 1, kMostFlows)));
    for (Flow& f : flows_) {
      f.what = support::any_of(random_, {What::kSum, What::kMulticast, What::kPull});
      f.chip = with_gpus[random_.below(with_gpus.size())];
      f.rises = random_.below(2) == 0 && !of(f.chip).above.empty();
      for (const Neighbour& n : of(f.chip).gpus) {
        if (f.members.empty() || random_.below(3) != 0) f.members.push_back(n);
      }
      sim::Time when = sim::Time::ns(support::pick(random_, 0, span));
      for (int pieces = support::pick(random_, 1, kMostPieces); pieces > 0; --pieces) {
        const std::int64_t packets =
            bursts ? support::pick(random_, 1, static_cast<int>(machine.unit_most / payload)) : 1;
        const std::int64_t bytes = packets * payload - static_cast<std::int64_t>(random_.below(16));
        f.pieces.push_back({when, static_cast<std::uint16_t>(bytes), static_cast<std::uint16_t>(packets)});
        when += sim::Time::ps(support::pick(random_, 0, 3) * support::pick(random_, 0, 30'000));
      }
    }
  }

  void begin(World& world) {
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      const Flow& f = flows_[flow];
      for (std::uint32_t i = 0; i < f.pieces.size(); ++i) {
        // Members of a sum send at different times; of others, the first member alone sends.
        const std::size_t senders = f.what == What::kSum ? f.members.size() : 1;
        for (std::size_t m = 0; m < senders; ++m) {
          const sim::Time when = f.pieces[i].when + sim::Time::ps(static_cast<std::int64_t>(m) * 1'111);
          const Packet p = packet_of(kFirstKind[static_cast<std::size_t>(f.what)], flow, i);
          from_gpu(world, p, f.members[m], mine(when, 100 + static_cast<std::int64_t>(flow)));
        }
      }
    }
  }

  /// A packet is at GPU packet.destination() at packet.arrives, now or later. Returns from when on it needs
  /// no room.
  sim::Time at_gpu(World& world, const Packet& p) {
    note(p.arrives, p.destination(), p);
    const Neighbour back{p.destination(), 0, p.spread()};
    const auto number = static_cast<std::int64_t>(p.offset());
    if (p.kind() == PacketKind::kLoadReduce) {
      const Packet reply = packet_of(PacketKind::kReply, p.flow(), p.offset() % kMostPieces);
      from_gpu(world, reply, back, mine(p.arrives, 1'536 + number));
    } else if (p.values() == kAnswer) {
      Packet ack = p;
      ack.set_kind(PacketKind::kUnitAck);
      ack.set_payload(0);
      from_gpu(world, ack, back, mine(p.arrives, 1'100 + number));
    }
    return p.arrives + hold(p);
  }

  /// A whole packet that is not control is at a unit now.
  void at_unit(World& world, const Packet& p, LinkId in) {
    note(world.now(), p.destination(), p);
    const NodeId chip = p.destination();
    Unit& unit = units_[index_of(chip)];
    if (unit.arrived.empty()) world.at(world.now(), [this, &world, chip] { act(world, chip); });
    unit.arrived.push_back({p, in});
  }
  /// A control packet is at a unit at packet.arrives, now or later.
  void expect(World& world, const Packet& p) {
    note(p.arrives, p.destination(), p);
    auto& gathers = units_[index_of(p.destination())].gathers;
    const auto found = gathers.find(p.offset());
    if (found == gathers.end()) return;
    Gather& g = found->second;
    g.latest = sim::max(g.latest, p.arrives);
    if (--g.left > 0) return;
    Packet ack = packet_of(PacketKind::kUnitAck, p.flow(), p.offset() % kMostPieces);
    ack.arrives = mine(g.latest + latency_, 1'024 + static_cast<std::int64_t>(p.offset()));
    const LinkId back = g.back;
    gathers.erase(found);
    send(world, ack, back);
  }
  void departed(World& world, NodeId chip, const Packet& p, sim::Time end) {
    note(end, chip, p);
    if (p.ticket() == kNoSlot) return;
    Slot& slot = units_[index_of(chip)].slots[p.ticket()];
    slot.end = sim::max(slot.end, end);
    if (--slot.copies == 0) world.release(slot.held.packet, slot.held.in, slot.end);
  }

  std::vector<Delivery> deliveries;

 private:
  static constexpr int kMostFlows = 12;
  static constexpr std::uint32_t kMostPieces = 32;
  static constexpr std::uint16_t kNoSlot = 0xffff;
  static constexpr ValuesId kAnswer = 1;  ///< in Packet::values: the unit wants to know when it has arrived
  enum class What { kSum, kMulticast, kPull };
  static constexpr std::array kFirstKind = {PacketKind::kReduceWrite, PacketKind::kMulticastWrite,
                                            PacketKind::kLoadReduce};
  struct Piece {
    sim::Time when;
    std::uint16_t bytes;
    std::uint16_t packets;
  };
  struct Flow {
    What what = What::kSum;
    NodeId chip = 0;
    bool rises = false;  ///< to a switch above
    std::vector<Neighbour> members;
    std::vector<Piece> pieces;
  };
  struct Held {
    Packet packet;
    LinkId in = 0;
  };
  /// What is released when every copy of it has left.
  struct Slot {
    Held held;
    int copies = 0;
    sim::Time end;
  };
  struct Gather {
    std::size_t left = 0;
    LinkId back = 0;
    sim::Time latest;
  };
  struct Unit {
    std::vector<Held> arrived;  // in this picosecond
    std::vector<Slot> slots;
    std::map<std::uint32_t, Gather> gathers;      // by number: acknowledgements that are to come
    std::map<std::uint32_t, std::size_t> summed;  // by number: contributions
    std::map<std::uint32_t, LinkId> asked;        // by number: where to send the sum
  };

  const SwitchNeighbours& of(NodeId chip) const { return chips_[index_of(chip)]; }
  void note(sim::Time at, NodeId where, const Packet& p) {
    deliveries.push_back({at, where, p.kind(), p.flow(), p.offset(), p.payload()});
  }
  Packet packet_of(PacketKind kind, std::uint32_t flow, std::uint32_t piece) const {
    Packet p;
    p.set_kind(kind);
    p.set_flow(flow);
    p.set_offset(flow * kMostPieces + piece);
    p.set_packets(flows_[flow].pieces[piece].packets);
    if (kind == PacketKind::kLoadReduce) {
      p.set_packets(1);
    } else if (kind != PacketKind::kUnitAck) {
      p.set_payload(flows_[flow].pieces[piece].bytes);
    }
    p.set_ticket(kNoSlot);
    return p;
  }
  sim::Time hold(const Packet& p) const {
    const std::uint64_t any = sim::mix(p.offset() * 31ULL + static_cast<std::uint64_t>(p.kind()));
    return sim::Time::ps(static_cast<std::int64_t>(any % static_cast<std::uint64_t>(most_hold_)));
  }
  /// The next picosecond after `from` with that remainder.
  static sim::Time mine(sim::Time from, std::int64_t remainder) {
    const std::int64_t rounds = (from.count_ps() - remainder + Load::kGrain) / Load::kGrain;
    return sim::Time::ps(std::max<std::int64_t>(rounds, 0) * Load::kGrain + remainder);
  }
  static void from_gpu(World& world, Packet p, const Neighbour& gpu, sim::Time when) {
    p.set_source(gpu.node);
    p.set_spread(gpu.lane);
    world.at(when, [&world, p] { world.send_to_unit(p, p.offset() % 70); });
  }
  static void send(World& world, Packet p, LinkId out, std::uint16_t lane = 0) {
    p.set_spread(lane);
    world.unit_send(p, out);
  }

  /// What has arrived in this picosecond, in an order of its own.
  void act(World& world, NodeId chip) {
    std::vector<Held> arrived = std::exchange(units_[index_of(chip)].arrived, {});
    std::ranges::sort(arrived, {}, [](const Held& h) {
      return std::tuple{std::uint32_t{h.packet.offset()}, PacketKind{h.packet.kind()}, h.in};
    });
    for (const Held& h : arrived) act(world, chip, h);
  }
  void act(World& world, NodeId chip, const Held& h) {
    const Flow& f = flows_[h.packet.flow()];
    switch (h.packet.kind()) {
      case PacketKind::kReduceWrite:
        return chip == f.chip ? contribution(world, chip, h) : to_home(world, chip, h);
      case PacketKind::kReply:
        return contribution(world, chip, h);
      case PacketKind::kLoadReduce: {
        units_[index_of(chip)].asked[h.packet.offset()] = h.in ^ 1U;
        return copy(world, chip, h, f.members, 0);
      }
      default:
        return multicast(world, chip, h);
    }
  }

  /// Adds it up; it leaves its buffer when the unit is ready to take it. The sum goes to all members, to who
  /// asked for it, or to the switch above.
  void contribution(World& world, NodeId chip, const Held& h) {
    const Flow& f = flows_[h.packet.flow()];
    Unit& unit = units_[index_of(chip)];
    const sim::Time taken = world.now() + hold(h.packet);
    if (h.packet.offset() % 2 == 0) {
      world.release(h.packet, h.in, taken);
    } else {
      world.at(taken, [&world, h] { world.release(h.packet, h.in, world.now()); });
    }
    const std::uint32_t piece = h.packet.offset() % kMostPieces;
    if (h.packet.kind() == PacketKind::kReduceWrite) {
      Packet ack = packet_of(PacketKind::kUnitAck, h.packet.flow(), piece);
      ack.arrives = mine(taken + latency_, static_cast<std::int64_t>(h.packet.offset()));
      send(world, ack, h.in ^ 1U);
    }
    if (++unit.summed[h.packet.offset()] < f.members.size()) return;
    Packet sum = packet_of(PacketKind::kResult, h.packet.flow(), piece);
    sum.arrives = world.now() + latency_;
    if (h.packet.kind() == PacketKind::kReply) return send(world, sum, unit.asked.at(h.packet.offset()));
    if (f.rises) {
      sum.set_kind(PacketKind::kReduceWrite);
      return send(world, sum, of(chip).above[piece % of(chip).above.size()].out);
    }
    for (const Neighbour& n : f.members) send(world, sum, n.out, n.lane);
  }
  /// What came up goes to a GPU somewhere.
  void to_home(World& world, NodeId chip, const Held& h) {
    Packet p = packet_of(PacketKind::kPartial, h.packet.flow(), h.packet.offset() % kMostPieces);
    p.set_destination(static_cast<NodeId>(sim::mix(h.packet.offset()) % static_cast<std::uint64_t>(gpus_)));
    p.set_spread(static_cast<std::uint16_t>(sim::mix(h.packet.offset() + 5)));
    p.arrives = world.now() + latency_;
    p.set_ticket(keep(chip, h, 1));
    world.unit_send_routed(p, chip);
  }
  void multicast(World& world, NodeId chip, const Held& h) {
    const Flow& f = flows_[h.packet.flow()];
    if (chip == f.chip) {
      units_[index_of(chip)].gathers[h.packet.offset()] = {f.members.size(), h.in ^ 1U, {}};
      std::vector<Neighbour> to = f.members;
      if (f.rises) to.push_back(of(chip).above[h.packet.offset() % of(chip).above.size()]);
      return copy(world, chip, h, to, kAnswer);
    }
    std::vector<Neighbour> to = of(chip).gpus;
    if (to.empty()) to = of(chip).below;
    std::erase_if(to, [&](const Neighbour& n) { return (n.out ^ 1U) == h.in || n.node == f.chip; });
    if (to.empty()) return world.release(h.packet, h.in, world.now());
    copy(world, chip, h, to, kAnswer);
  }
  void copy(World& world, NodeId chip, const Held& h, const std::vector<Neighbour>& to, ValuesId values) {
    Packet p = packet_of(h.packet.kind(), h.packet.flow(), h.packet.offset() % kMostPieces);
    p.set_values(values);
    p.arrives = world.now() + latency_;
    p.set_ticket(keep(chip, h, static_cast<int>(to.size())));
    for (const Neighbour& n : to) send(world, p, n.out, n.lane);
  }
  std::uint16_t keep(NodeId chip, const Held& h, int copies) {
    auto& slots = units_[index_of(chip)].slots;
    slots.push_back({h, copies, {}});
    return static_cast<std::uint16_t>(slots.size() - 1);
  }

  sim::Random random_;
  NodeId gpus_;
  sim::Time latency_;  // of a unit, at least what the network was told
  int most_hold_;      // ps
  std::vector<SwitchNeighbours> chips_;
  std::vector<Flow> flows_;
  std::vector<Unit> units_;
};

}  // namespace infold::net::oracle
