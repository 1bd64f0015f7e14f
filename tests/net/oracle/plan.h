// What the reference network must know of a machine, link by link, read from its blueprint. This is the only
// file of the reference that knows how blueprints are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "net/packet/packet.h"
#include "net/switch_unit.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/units.h"

namespace infold::net::oracle {

/// As which inputs a GPU's own packets wait for its links: 63 turns for its senders, one for its
/// acknowledgements, and then the links into it where packets pass through GPUs.
inline constexpr int kSenderTurns = 63;
inline constexpr int kAckTurn = 63;
inline constexpr int kOwnTurns = 64;

/// A link with everything that counts for it, so that no two need to be alike.
struct LinkPlan {
  int id = 0;
  NodeId from = 0;
  NodeId to = 0;
  sim::Bandwidth rate;
  sim::Time latency;
  sim::Bytes error_distance;
  sim::Bytes header;
  sim::Bytes ack;
  sim::Bytes request;      ///< of switches' units; no packet has it where there are none
  sim::Bytes largest;      ///< packet
  sim::Time chip_latency;  ///< of the chip at its far end, as are the next four
  int speedup = 0;
  sim::Bytes buffer;
  sim::Bytes lot;          ///< room is given back in lots of so much
  bool passes_on = false;  ///< packets go on from there
  int far_input = 0;       ///< as which input the outputs of the far chip see it

  sim::Bytes bytes_of(const Packet& p) const {
    sim::Bytes each = header;
    if (p.kind() == PacketKind::kAck || p.kind() == PacketKind::kUnitAck) each = ack;
    if (p.kind() == PacketKind::kLoadReduce || p.kind() == PacketKind::kReminder) each = request;
    return each * p.packets() + sim::Bytes{p.payload()};
  }
};

struct Plan {
  int gpus = 0;
  int nodes = 0;
  int layers = 1;
  int channels = 0;
  std::int64_t payload = 0;       ///< most of a packet
  std::int64_t unit_payload = 0;  ///< the same of a packet that units act on
  std::vector<LinkPlan> links;
  std::vector<int> unit_input;  ///< by node: as which input a chip's outputs see its unit
};

inline Plan plan_of(const Blueprint& b, const Routes& routes, const InNetwork& in_network) {
  Plan plan;
  plan.gpus = b.gpus;
  plan.nodes = b.nodes();
  plan.layers = routes.layers();
  plan.channels = (in_network.units ? 4 : 2) * plan.layers;
  plan.payload = b.link_types[0].packet.payload.count();
  plan.unit_payload = in_network.payload.count();
  const bool through_gpus = b.style != RoutingStyle::kShortest;
  std::vector<int> inputs(static_cast<std::size_t>(b.nodes()));
  std::fill_n(inputs.begin(), b.gpus, kOwnTurns);
  for (const Cable& cable : b.cables) {
    const LinkType& type = b.type_of(cable);
    for (const bool back : {false, true}) {
      LinkPlan link;
      link.id = static_cast<int>(plan.links.size());
      link.from = back ? cable.b : cable.a;
      link.to = back ? cable.a : cable.b;
      link.rate = type.rate;
      link.latency = type.latency;
      link.error_distance = type.error_distance;
      link.header = type.packet.header;
      link.ack = type.packet.ack;
      link.request = in_network.request;
      link.largest = sim::max(type.packet.payload + link.header, link.ack);
      if (in_network.units)
        link.largest = sim::max(link.largest, sim::max(in_network.payload + link.header, link.request));
      const ChipType& chip = b.chip_of(link.to);
      link.chip_latency = chip.latency;
      link.speedup = chip.speedup;
      link.buffer = chip.buffer;
      link.lot = sim::min(link.buffer / 8, link.buffer - link.largest);
      link.passes_on = through_gpus || !b.is_gpu(link.to);
      if (link.passes_on) link.far_input = inputs[index_of(link.to)]++;
      plan.links.push_back(link);
    }
  }
  plan.unit_input = inputs;  // the last of all
  return plan;
}

}  // namespace infold::net::oracle
