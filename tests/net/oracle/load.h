// One random load for the two networks that are compared: what is sent when, how GPUs answer, and what
// arrived.
//
// Ties: a GPU sends packets of different flows at different picoseconds (each flow has its own remainder of
// kGrain), so the order in which a simulator handles what happens in one picosecond does not show.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "machines.h"
#include "net/packet/packet.h"
#include "sim/random.h"
#include "support/random_fabric.h"

namespace infold::net::oracle {

/// When what arrived where.
struct Delivery {
  sim::Time at;
  int gpu = 0;
  PacketKind kind = PacketKind::kWrite;
  std::uint32_t flow = 0;
  std::uint32_t offset = 0;
  std::uint16_t payload = 0;
  auto operator<=>(const Delivery&) const = default;
  friend std::ostream& operator<<(std::ostream& out, const Delivery& d) {
    return out << d.at.count_ps() << " ps: gpu" << d.gpu << " kind " << static_cast<int>(d.kind) << " flow "
               << d.flow << " offset " << d.offset << " bytes " << d.payload;
  }
};

/// A network as a load sees it.
class World {
 public:
  virtual sim::Time now() const = 0;
  /// A GPU does something at a time of its choice.
  virtual void at(sim::Time when, std::function<void()> what) = 0;
  virtual void send(const Packet& packet, std::uint32_t sender) = 0;
  virtual void send_ack(const Packet& packet) = 0;

  // For units, and GPUs that work with them.
  virtual void send_to_unit(const Packet& packet, std::uint32_t sender) = 0;
  virtual void unit_send(const Packet& packet, LinkId out) = 0;
  virtual void unit_send_routed(const Packet& packet, NodeId chip) = 0;
  virtual void release(const Packet& packet, LinkId in, sim::Time at) = 0;

 protected:
  ~World() = default;
};

class Load {
 public:
  static constexpr std::int64_t kGrain = 2'048;
  static constexpr std::uint32_t kMostFlows = 1'024;

  Load(const Machine& machine, std::uint64_t seed) : random_(seed) {
    const auto payload = packet_payload(machine.blueprint).count();
    const std::int64_t most = machine.most;
    const int gpus = machine.blueprint.gpus;
    const int hold = support::pick(random_, 0, 2);
    for (int gpu = 0; gpu < gpus; ++gpu)
      hold_.push_back(hold == 0 ? 0 : support::pick(random_, 1, hold == 1 ? 1'000 : 400'000));
    // All to all, or into few GPUs, which is what fills buffers.
    const int targets = random_.below(2) == 0 ? gpus : std::min(gpus, 2);
    flows_.resize(static_cast<std::size_t>(support::pick(random_, 2, 60)));
    const int span = support::any_of(random_, {100, 1'000, 5'000});
    for (std::uint32_t id = 0; id < flows_.size(); ++id) {
      Flow& f = flows_[id];
      f.first.set_flow(id);
      f.first.set_destination(static_cast<NodeId>(support::pick(random_, 0, targets - 1)));
      f.first.set_source(
          static_cast<NodeId>((f.first.destination() + support::pick(random_, 1, gpus - 1)) % gpus));
      f.first.set_kind(random_.below(5) == 0 ? PacketKind::kSignal : PacketKind::kWrite);
      f.first.set_spread(static_cast<std::uint16_t>(random_.next()));
      f.sender = static_cast<std::uint32_t>(random_.below(100));
      f.echoes = random_.below(3) == 0;
      sim::Time when = sim::Time::ns(support::pick(random_, 0, span));
      for (int pieces = support::pick(random_, 1, 25); pieces > 0; --pieces) {
        const bool flag = f.first.kind() == PacketKind::kSignal;
        const std::int64_t bytes = flag ? kFlagBytes : piece(payload, most);
        f.pieces.push_back({when, static_cast<std::uint16_t>(bytes),
                            static_cast<std::uint16_t>(flag ? 1 : (bytes + payload - 1) / payload)});
        when += sim::Time::ps(support::pick(random_, 0, 3) * support::pick(random_, 0, 60'000));
      }
    }
  }

  void begin(World& world) {
    for (Flow& flow : flows_) {
      // A flow that echoes sends its next piece when the one before is acknowledged.
      const std::size_t planned =
          flow.echoes ? std::min<std::size_t>(flow.pieces.size(), 3) : flow.pieces.size();
      for (std::size_t i = 0; i < planned; ++i) send_at(world, flow, flow.pieces[i].when);
    }
  }

  /// A packet is at its destination at packet.arrives, now or later. Returns from when on it needs no room.
  sim::Time arrives(World& world, const Packet& p) {
    const std::uint32_t bytes = p.kind() == PacketKind::kAck ? p.acknowledged() : p.offset();
    deliveries.push_back({p.arrives, p.destination(), p.kind(), p.flow(), bytes, p.payload()});
    Flow& flow = flows_[p.flow()];
    if (p.kind() == PacketKind::kAck) {
      if (flow.echoes && flow.planned < flow.pieces.size()) send_at(world, flow, p.arrives);
    } else if (p.kind() == PacketKind::kWrite) {
      world.send_ack(Packet::ack(p, mine(p.arrives, flow, false)));
    }
    const std::int64_t hold = hold_[p.destination()];
    if (hold == 0) return p.arrives;
    return p.arrives + sim::Time::ps(static_cast<std::int64_t>(sim::mix(p.flow() * 7'919ULL + bytes) %
                                                               static_cast<std::uint64_t>(hold)));
  }

  /// By time and place, whatever the order in which they were told.
  std::vector<Delivery> sorted() {
    std::ranges::sort(deliveries);
    return deliveries;
  }
  bool all_sent() const {
    return std::ranges::all_of(flows_, [](const Flow& f) { return f.echoes || f.sent == f.pieces.size(); });
  }

  std::vector<Delivery> deliveries;

 private:
  struct Piece {
    sim::Time when;
    std::uint16_t bytes;
    std::uint16_t packets;
  };
  struct Flow {
    Packet first;
    std::uint32_t sender = 0;
    bool echoes = false;
    std::vector<Piece> pieces;
    std::size_t sent = 0;
    std::size_t planned = 0;
    std::uint32_t bytes = 0;
  };

  std::int64_t piece(std::int64_t payload, std::int64_t most) {
    switch (random_.below(3)) {
      case 0:
        return std::min(payload, most);
      case 1:
        return 1 + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(most)));
      default:
        return most / payload * payload;
    }
  }
  /// The next picosecond after `from` that belongs to this flow, for what it sends or for its
  /// acknowledgements.
  static sim::Time mine(sim::Time from, const Flow& flow, bool sends) {
    const std::int64_t remainder = flow.first.flow() + (sends ? std::int64_t{kMostFlows} : 0);
    const std::int64_t rounds = (from.count_ps() - remainder + kGrain) / kGrain;
    return sim::Time::ps(std::max<std::int64_t>(rounds, 0) * kGrain + remainder);
  }
  void send_at(World& world, Flow& flow, sim::Time from) {
    ++flow.planned;
    world.at(mine(from, flow, true), [&world, &flow] { send_next(world, flow); });
  }
  static void send_next(World& world, Flow& flow) {
    const Piece& piece = flow.pieces[flow.sent++];
    Packet p = flow.first;
    p.set_payload(piece.bytes);
    p.set_packets(piece.packets);
    p.set_offset(flow.bytes);
    p.arrives = world.now();
    flow.bytes += piece.bytes;
    world.send(p, flow.sender);
  }

  sim::Random random_;
  std::vector<Flow> flows_;
  std::vector<std::int64_t> hold_;  // by GPU: the longest a packet stays in the port's buffer, in ps
};

}  // namespace infold::net::oracle
