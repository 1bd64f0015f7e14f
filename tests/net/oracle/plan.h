// What the reference network must know of a machine, read from its spec and blueprint. This is the only file
// of the reference that knows how specs and blueprints are made.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "net/packet/packet.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/units.h"

namespace infold::net::oracle {

/// As which inputs a GPU's own packets wait for its links: 63 turns for its senders, one for its
/// acknowledgements, and then the links into it where packets pass through GPUs.
inline constexpr int kSenderTurns = 63;
inline constexpr int kAckTurn = 63;
inline constexpr int kOwnTurns = 64;

struct LinkPlan {
  int id = 0;
  NodeId from = 0;
  NodeId to = 0;
  sim::Bandwidth rate;
  sim::Time latency;
  sim::Time chip_latency;  ///< of the chip at its far end
  sim::Bytes error_distance;
  bool passes_on = false;  ///< packets go on from its far end
  int far_input = 0;       ///< as which input the outputs of the far chip see it
  int inputs = 0;          ///< of the near chip
};

struct Plan {
  int gpus = 0;
  int nodes = 0;
  int layers = 1;
  int channels = 0;
  int speedup = 0;
  sim::Bytes buffer;
  sim::Bytes lot;  ///< room is given back in lots of so much
  std::int64_t payload = 0;
  std::vector<LinkPlan> links;
};

inline Plan plan_of(const Blueprint& b, const Routes& routes, const FabricSpec& spec) {
  Plan plan;
  plan.gpus = b.gpus;
  plan.nodes = b.nodes();
  plan.layers = routes.layers();
  plan.channels = kPlainClasses * plan.layers;
  plan.speedup = spec.switch_chip.speedup;
  plan.buffer = spec.switch_chip.buffer;
  plan.payload = spec.packet.payload.count();
  const sim::Bytes largest = sim::max(spec.packet.payload + spec.packet.header,
                                      sim::max(spec.packet.ack, spec.packet.header + sim::Bytes{kFlagBytes}));
  plan.lot = sim::min(plan.buffer / 8, plan.buffer - largest);
  const bool through_gpus = b.style != RoutingStyle::kShortest;
  std::vector<int> inputs(static_cast<std::size_t>(b.nodes()));
  std::fill_n(inputs.begin(), b.gpus, kOwnTurns);
  for (const Cable& cable : b.cables) {
    for (const bool back : {false, true}) {
      LinkPlan link;
      link.id = static_cast<int>(plan.links.size());
      link.from = back ? cable.b : cable.a;
      link.to = back ? cable.a : cable.b;
      link.rate = spec.link.rate;
      link.latency = spec.link.latency;
      link.chip_latency = b.is_gpu(link.to) ? sim::Time{} : spec.switch_chip.latency;
      link.error_distance = spec.link.error_distance;
      link.passes_on = through_gpus || !b.is_gpu(link.to);
      if (link.passes_on) link.far_input = inputs[link.to]++;
      plan.links.push_back(link);
    }
  }
  for (LinkPlan& link : plan.links) link.inputs = inputs[link.from];
  return plan;
}

}  // namespace infold::net::oracle
