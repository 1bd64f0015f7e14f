// The reference network: an event for every arrival, every piece of room that becomes free, every credit and
// every transmission. Written from docs/network.md to be compared with net::Network, and shares no code with
// it beyond blueprints, routes and packets.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "clock.h"
#include "net/topology/routes.h"
#include "output.h"
#include "plan.h"

namespace infold::net::oracle {

/// What stands at a GPU.
struct Ports {
  /// A whole packet is here. Returns from when on it needs no room in the port's buffer; control packets need
  /// none.
  std::function<sim::Time(const Packet&)> arrived;
  /// A packet that was sent from here, and is not control, begins to leave.
  std::function<void(const Packet&)> departed;
};

/// The unit of a switch.
struct UnitPorts {
  /// A whole packet is here; link of that number brought it. Unless it is control, it keeps its room in the
  /// buffer until release().
  std::function<void(const Packet&, LinkId)> arrived;
  /// A packet that the unit sent begins to leave, and has left at that time.
  std::function<void(const Packet&, sim::Time)> departed;
};

class ReferenceNetwork {
 public:
  ReferenceNetwork(Clock& clock, const Blueprint& blueprint, const InNetwork& in_network, bool bursts)
      : clock_(clock),
        routes_(Routes::make(blueprint).value()),
        plan_(plan_of(blueprint, routes_, in_network)),
        bursts_(bursts),
        ports(static_cast<std::size_t>(plan_.gpus)),
        units(static_cast<std::size_t>(plan_.nodes)),
        round_due_(static_cast<std::size_t>(plan_.nodes), false) {
    for (const LinkPlan& link : plan_.links) {
      outputs_.push_back(std::make_unique<Output>(clock, plan_, link, [this, &link] { decide(link.from); }));
    }
  }

  /// A packet of the GPU packet.source() is there now.
  void send(Packet packet, int sender) { queue_own(packet, sender % kSenderTurns); }
  /// The same for an acknowledgement that is there at packet.arrives, now or later.
  void send_ack(Packet packet) {
    if (packet.arrives <= clock_.now()) return queue_own(packet, kAckTurn);
    clock_.at(packet.arrives, Phase::kArrive, [this, packet] { queue_own(packet, kAckTurn); });
  }
  /// A packet of the GPU packet.source(), there now, for the unit at the other end of its lane
  /// packet.spread().
  void send_to_unit(Packet packet, int sender) {
    std::vector<Output*> lanes;
    for (const auto& out : outputs_) {
      if (out->plan.from == packet.source()) lanes.push_back(out.get());
    }
    Output& lane = *lanes[packet.spread() % lanes.size()];
    packet.set_destination(lane.plan.to);
    queue_at({packet}, lane, 0, sender % kSenderTurns);
  }
  /// A packet of a unit for the chip at the far end of that link, there at packet.arrives, now or later.
  void unit_send(Packet packet, LinkId link) {
    Output& out = *outputs_[link];
    packet.set_destination(out.plan.to);
    clock_.at(packet.arrives, Phase::kArrive, [this, packet, &out] {
      queue_at({packet}, out, 0, plan_.unit_input[index_of(out.plan.from)]);
    });
  }
  /// The same for the GPU packet.destination(), wherever it is.
  void unit_send_routed(const Packet& packet, NodeId chip) {
    clock_.at(packet.arrives, Phase::kArrive,
              [this, packet, chip] { queue({packet}, chip, plan_.unit_input[index_of(chip)]); });
  }
  /// A packet that a unit was handed by that link needs no room from `at` on, now or later.
  void release(const Packet& packet, LinkId link, sim::Time at) {
    Output& in = *outputs_[link];
    in.buffers[static_cast<std::size_t>(packet.channel())]->leaves(in.plan.bytes_of(packet), at);
  }
  bool quiet() const {
    return std::ranges::all_of(outputs_, [](const auto& o) {
      return o->empty() && std::ranges::all_of(o->buffers, [](const auto& b) { return b->all_home(); });
    });
  }

 private:
  /// Packet by packet, what is sent as several packets is cut up.
  void queue_own(Packet packet, int input) {
    std::int64_t left = bursts_ ? 0 : packet.payload();
    if (!bursts_ && packet.packets() > 1) {
      for (; left > 0; left -= packet.payload()) {
        packet.set_packets(1);
        packet.set_payload(static_cast<std::uint16_t>(std::min(left, plan_.payload)));
        queue({packet}, packet.source(), input);
        packet.set_offset(packet.offset() + packet.payload());
      }
      return;
    }
    queue({packet}, packet.source(), input);
  }
  void queue(const Output::Waiting& waiting, NodeId at, int input) {
    const Packet& p = waiting.packet;
    queue_at(waiting, *outputs_[routes_.next(at, p.destination(), p.spread())],
             routes_.hop(at, p.destination()).layer, input);
  }
  void queue_at(const Output::Waiting& waiting, Output& out, int layer, int input) {
    out.queue(waiting, static_cast<int>(class_of(waiting.packet.kind())) * plan_.layers + layer, input);
    decide(out.plan.from);
  }

  /// The chip's outputs decide in this picosecond, once it is known what has happened in it.
  void decide(NodeId chip) {
    if (round_due_[chip]) return;
    round_due_[chip] = true;
    clock_.at(clock_.now(), Phase::kArbitrate, [this, chip] {
      round_due_[chip] = false;
      round(chip);
    });
  }
  void decide_at(NodeId chip, sim::Time when) {
    clock_.at(when, Phase::kArbitrate, [this, chip] {
      if (!round_due_[chip]) round(chip);
    });
  }
  /// The output that has sent nothing for the longest time goes first; of equal ones, the first of the chip.
  /// They decide again, because an input that feeds one of them leaves its turn to others, until none sends.
  void round(NodeId chip) {
    std::vector<Output*> order;
    for (const auto& out : outputs_) {
      if (out->plan.from == chip) order.push_back(out.get());
    }
    for (bool sent = true; sent;) {
      sent = false;
      std::ranges::sort(order, {}, [](const Output* o) { return std::pair{o->last_sent, o->plan.id}; });
      for (Output* out : order) {
        const auto choice = out->choose(clock_.now());
        if (choice) transmit(*out, choice->waiting, choice->channel);
        sent = sent || choice;
      }
    }
  }

  void transmit(Output& out, const Output::Waiting& waiting, int channel) {
    Packet packet = waiting.packet;
    const sim::Bytes wire = out.plan.bytes_of(packet);
    const Wire::Slot slot =
        out.wire.send(wire, clock_.now(), packet.packets() > 1 && !out.slips(channel), waiting.tail);
    out.last_sent = clock_.now();
    decide_at(out.plan.from, out.wire.busy_until());
    decide_at(out.plan.from, out.wire.slip_from());
    if (waiting.in != nullptr) {
      Output& in = *waiting.in;
      in.buffers[static_cast<std::size_t>(waiting.in_channel)]->leaves(in.plan.bytes_of(packet), slot.end);
      in.feed.use(slot.end);
      decide_at(out.plan.from, slot.end);
    } else if (out.plan.from >= plan_.gpus) {
      units[index_of(out.plan.from)].departed(packet, slot.end);
    } else if (class_of(packet.kind()) != PacketClass::kControl && ports[packet.source()].departed) {
      ports[packet.source()].departed(packet);
    }
    const sim::Time on_the_way = out.plan.latency + out.plan.chip_latency;
    if (packet.destination() != out.plan.to) {
      // Cut-through: the head goes on before the tail is in.
      clock_.at(slot.start + on_the_way, Phase::kArrive,
                [this, &out, packet, channel, tail = slot.end + on_the_way] {
                  queue({packet, &out, channel, tail}, out.plan.to, out.plan.far_input);
                });
      return;
    }
    packet.arrives = slot.end + on_the_way;
    packet.set_channel(static_cast<std::uint8_t>(channel));
    if (class_of(packet.kind()) != PacketClass::kControl) {
      // What slipped into a burst is handed over behind it.
      packet.arrives = out.last_handed = sim::max(packet.arrives, out.last_handed);
    }
    clock_.at(packet.arrives, Phase::kArrive, [this, &out, packet] { hand_over(out, packet); });
  }
  void hand_over(Output& out, const Packet& packet) {
    const bool control = class_of(packet.kind()) == PacketClass::kControl;
    Buffer& buffer = *out.buffers[packet.channel()];
    const sim::Bytes wire = out.plan.bytes_of(packet);
    if (packet.destination() >= plan_.gpus) {
      units[index_of(packet.destination())].arrived(packet, static_cast<LinkId>(out.plan.id));
      if (control) buffer.leaves(wire, clock_.now());
      return;
    }
    const sim::Time free = ports[packet.destination()].arrived(packet);
    buffer.ends(wire, control ? clock_.now() : free);
  }

  Clock& clock_;
  Routes routes_;
  Plan plan_;
  bool bursts_;

 public:
  std::vector<Ports> ports;      ///< by GPU
  std::vector<UnitPorts> units;  ///< by node

 private:
  std::vector<bool> round_due_;
  std::vector<std::unique_ptr<Output>> outputs_;
};

}  // namespace infold::net::oracle
