// draw(): looks up the topology's builder, and the strokes that all builders share.
// Counts are compared in 64 bits before anything is allocated, so no input can overflow or exhaust memory.
#include "net/topology/blueprint.h"

#include <fmt/format.h>

#include <array>

#include "net/topology/topologies.h"

namespace infold::net {
namespace {

struct Builder {
  Topology topology;
  Drawing (*draw)(const FabricSpec& spec, int gpus);
};

constexpr std::array kBuilders = {
    Builder{Topology::kSwitchPlanes, draw_switch_planes},
    Builder{Topology::kFatTree, draw_fat_tree},
    Builder{Topology::kFullMesh, draw_full_mesh},
    Builder{Topology::kRing, draw_ring},
    Builder{Topology::kTorus, draw_torus},
    Builder{Topology::kCubeMesh, draw_cube_mesh},
    Builder{Topology::kPcieTree, draw_pcie_tree},
};
static_assert(kBuilders.size() == kTopologyNames.size(), "every topology has a builder");

}  // namespace

std::variant<Blueprint, sim::Refusal> draw(const FabricSpec& spec, int gpus) {
  if (auto refusal = not_positive("gpus", gpus)) return *refusal;
  if (auto refusal = beyond_bounds("gpus", gpus, 0)) return *refusal;
  for (const Builder& builder : kBuilders) {
    if (builder.topology == spec.topology) return builder.draw(spec, gpus);
  }
  return sim::Refusal{"fabric.topology", "this topology can not be drawn"};
}

std::optional<sim::Refusal> beyond_bounds(const std::string& path, std::int64_t nodes, std::int64_t cables) {
  if (nodes > kMaxNodes) {
    return sim::Refusal{path,
                        fmt::format("that makes {} GPUs and switches; the most is {}", nodes, kMaxNodes)};
  }
  if (2 * cables > kMaxLinks) {
    return sim::Refusal{
        path, fmt::format("that makes {} links (two a cable); the most is {}", 2 * cables, kMaxLinks)};
  }
  return std::nullopt;
}

std::optional<sim::Refusal> not_positive(const std::string& path, int count) {
  if (count >= 1) return std::nullopt;
  return sim::Refusal{path, fmt::format("must be at least 1, not {}", count)};
}

std::optional<sim::Refusal> uneven_groups(int gpus, int groups) {
  if (auto refusal = not_positive("fabric.groups", groups)) return refusal;
  if (gpus % groups == 0) return std::nullopt;
  return sim::Refusal{"fabric.groups",
                      fmt::format("{} GPUs can not be dealt out evenly to {} groups", gpus, groups)};
}

Blueprint chips(int gpus, int switches) {
  Blueprint blueprint;
  blueprint.gpus = gpus;
  blueprint.switches = switches;
  blueprint.spread_divisor.assign(static_cast<std::size_t>(gpus + switches), 1);
  return blueprint;
}

void join(Blueprint& blueprint, int a, int b, int cables) {
  const Cable cable{static_cast<NodeId>(a), static_cast<NodeId>(b)};
  blueprint.cables.insert(blueprint.cables.end(), static_cast<std::size_t>(cables), cable);
}

}  // namespace infold::net
