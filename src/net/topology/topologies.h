// The builders behind draw(), one a topology, and the few strokes they share.
// Internal to net/: others call draw(), which has made sure that 1 <= gpus <= kMaxNodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "net/topology/blueprint.h"

namespace infold::net {

using Drawing = std::variant<Blueprint, sim::Refusal>;

Drawing draw_switch_planes(const FabricSpec& spec, int gpus);
Drawing draw_fat_tree(const FabricSpec& spec, int gpus);
Drawing draw_full_mesh(const FabricSpec& spec, int gpus);
Drawing draw_ring(const FabricSpec& spec, int gpus);
Drawing draw_torus(const FabricSpec& spec, int gpus);
Drawing draw_cube_mesh(const FabricSpec& spec, int gpus);
Drawing draw_pcie_tree(const FabricSpec& spec, int gpus);

// A link number has 16 bits, and the routing tables grow with nodes x GPUs.
inline constexpr std::int64_t kMaxNodes = 4096;
inline constexpr std::int64_t kMaxLinks = 60'000;

/// To be asked before anything is allocated. `path` is the parameter to blame.
std::optional<sim::Refusal> beyond_bounds(const std::string& path, std::int64_t nodes, std::int64_t cables);

/// Refuses a count below one.
std::optional<sim::Refusal> not_positive(const std::string& path, int count);

/// Refuses GPUs that can not be dealt out evenly to `groups`. Grants: 1 <= groups <= gpus otherwise.
std::optional<sim::Refusal> uneven_groups(int gpus, int groups);

/// A blueprint of chips without cables, all of which spread packets by the plain spread value.
Blueprint chips(int gpus, int switches);

/// Adds parallel cables between two chips, behind those already drawn.
void join(Blueprint& blueprint, int a, int b, int cables = 1);

}  // namespace infold::net
