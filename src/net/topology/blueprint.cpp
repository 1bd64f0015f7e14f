// draw(), which looks up the topology's builder, and the strokes that all builders share.
// Counts are compared in 64 bits before anything is allocated, so no input can overflow or exhaust memory.
#include "net/topology/blueprint.h"

#include <fmt/format.h>

#include <algorithm>

#include "net/packet/packet.h"
#include "net/topology/topologies.h"

namespace infold::net {

sim::Result<Blueprint> draw(const FabricSpec& spec, int gpus) {
  if (auto ok = at_least_one("gpus", gpus); !ok) return sim::fail(ok.error());
  if (auto ok = within_bounds("gpus", gpus, 0); !ok) return sim::fail(ok.error());
  for (const TopologyEntry& entry : kTopologies) {
    if (entry.topology != spec.topology) continue;
    auto drawn = entry.draw(spec, gpus);
    if (!drawn) return drawn;
    drawn->link_types = {{.kind = entry.links,
                          .rate = spec.link.rate,
                          .latency = spec.link.latency,
                          .error_distance = spec.link.error_distance,
                          .packet = spec.packet}};
    ChipType port = spec.switch_chip;
    port.latency = {};
    drawn->chip_types = {spec.switch_chip, port};
    return drawn;
  }
  return sim::fail("this topology cannot be drawn", "fabric.topology");
}

sim::Status within_bounds(const std::string& path, std::int64_t nodes, std::int64_t cables) {
  if (nodes > kMaxNodes) {
    return sim::fail(fmt::format("that makes {} GPUs and switches; the most is {}", nodes, kMaxNodes), path);
  }
  if (2 * cables > kMaxLinks) {
    return sim::fail(
        fmt::format("that makes {} links (two per cable); the most is {}", 2 * cables, kMaxLinks), path);
  }
  return {};
}

sim::Status at_least_one(const std::string& path, int count) {
  if (count >= 1) return {};
  return sim::fail(fmt::format("must be at least 1, not {}", count), path);
}

sim::Status even_groups(int gpus, int groups) {
  if (auto ok = at_least_one("fabric.groups", groups); !ok) return ok;
  if (gpus % groups == 0) return {};
  return sim::fail(fmt::format("{} GPUs cannot be dealt out evenly to {} groups", gpus, groups),
                   "fabric.groups");
}

Blueprint chips(int gpus, int switches) {
  Blueprint blueprint;
  blueprint.gpus = gpus;
  blueprint.switches = switches;
  const auto nodes = static_cast<std::size_t>(gpus + switches);
  blueprint.spread_divisor.assign(nodes, 1);
  blueprint.roles.assign(nodes, NodeRole::kSwitch);
  blueprint.chip.assign(nodes, 0);
  for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(gpus); ++gpu) {
    blueprint.roles[gpu] = NodeRole::kGpu;
    blueprint.chip[gpu] = 1;
  }
  return blueprint;
}

void join(Blueprint& blueprint, int a, int b, int cables, LinkTypeId type) {
  blueprint.cables.insert(blueprint.cables.end(), static_cast<std::size_t>(cables), Cable{a, b, type});
}

std::string node_name(NodeId node, int gpus) {
  return node < gpus ? fmt::format("gpu{}", node) : fmt::format("switch{}", node - gpus);
}

sim::Bytes smallest_buffer(const Blueprint& blueprint) {
  return std::ranges::min(blueprint.chip_types, {}, &ChipType::buffer).buffer;
}

sim::Bytes largest_header(const Blueprint& blueprint) {
  sim::Bytes most;
  for (const LinkType& type : blueprint.link_types) most = sim::max(most, type.packet.header);
  return most;
}

sim::Bandwidth fastest_link(const Blueprint& blueprint) {
  return std::ranges::max(blueprint.link_types, {}, &LinkType::rate).rate;
}

sim::Status check_links(const Blueprint& blueprint) {
  if (blueprint.link_types.empty() || blueprint.link_types.size() > kMostLinkTypes) {
    return sim::fail(fmt::format("a fabric has 1 to {} types of links, not {}", kMostLinkTypes,
                                 blueprint.link_types.size()),
                     "fabric.link");
  }
  for (const Cable& c : blueprint.cables) {
    if (c.type >= blueprint.link_types.size()) {
      return sim::fail(fmt::format("there is no type {} of links", c.type), "fabric.link");
    }
  }
  const sim::Bytes payload = packet_payload(blueprint);
  const sim::Bytes buffer = smallest_buffer(blueprint);
  for (const LinkType& type : blueprint.link_types) {
    if (type.packet.payload != payload) {
      return sim::fail(
          fmt::format("packets of {} bytes would meet links that take packets of {}; a packet is "
                      "cut at its source only, so all links must take the same",
                      payload.count(), type.packet.payload.count()),
          "fabric.packet.payload");
    }
    if (const sim::Bytes most = WireCost(type.packet).largest_packet(); most > buffer) {
      return sim::fail(
          fmt::format("a packet of {} bytes does not fit a buffer of {}", most.count(), buffer.count()),
          "fabric.switch.buffer");
    }
  }
  return {};
}

}  // namespace infold::net
