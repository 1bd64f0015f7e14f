// The builders behind draw(), one a topology, and the few strokes they share.
// Internal to net/: others call draw(), which has made sure that 1 <= gpus <= kMaxNodes.
#pragma once

#include <cstdint>
#include <string>

#include "net/topology/blueprint.h"

namespace infold::net {

using Drawing = sim::Result<Blueprint>;

Drawing draw_switch_planes(const FabricSpec& spec, int gpus);
Drawing draw_fat_tree(const FabricSpec& spec, int gpus);
Drawing draw_full_mesh(const FabricSpec& spec, int gpus);
Drawing draw_ring(const FabricSpec& spec, int gpus);
Drawing draw_torus(const FabricSpec& spec, int gpus);
Drawing draw_cube_mesh(const FabricSpec& spec, int gpus);
Drawing draw_pcie_tree(const FabricSpec& spec, int gpus);

// Packets keep node numbers in 24 bits, and what stands before a link takes tens of kilobytes of the
// simulator's memory: so much is allowed and no more.
inline constexpr std::int64_t kMaxNodes = 200'000;
inline constexpr std::int64_t kMaxLinks = 2'000'000;

/// To be asked before anything is allocated. `path` is the parameter to blame.
sim::Status within_bounds(const std::string& path, std::int64_t nodes, std::int64_t cables);

/// Refuses a count below one.
sim::Status at_least_one(const std::string& path, int count);

/// Refuses GPUs that can not be dealt out evenly to `groups`. Grants: 1 <= groups <= gpus otherwise.
sim::Status even_groups(int gpus, int groups);

}  // namespace infold::net
