// The table of topologies: the builder behind draw() of each, and which parameters shape it; and the few
// strokes that builders share. Internal to net/: others call draw(), which has made sure that
// 1 <= gpus <= kMaxNodes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

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

struct TopologyEntry {
  Topology topology;
  Drawing (*draw)(const FabricSpec& spec, int gpus);
  LinkKind links;  ///< the kind of link that machines of this shape are built with
  /// Parameters of FabricSpec that shape it, by their names in visit(). What shapes other topologies only is
  /// refused where a user writes it (net/topology/topology_parameters.h).
  std::array<std::string_view, 3> parameters = {};
};

inline constexpr std::array kTopologies = {
    TopologyEntry{Topology::kSwitchPlanes,
                  draw_switch_planes,
                  LinkKind::kNvLink,
                  {"planes", "links_per_plane", "failed_planes"}},
    TopologyEntry{
        Topology::kFatTree, draw_fat_tree, LinkKind::kNvLink, {"groups", "leaves_per_group", "spines"}},
    TopologyEntry{Topology::kFullMesh, draw_full_mesh, LinkKind::kXgmi, {"links_per_neighbour"}},
    TopologyEntry{Topology::kRing, draw_ring, LinkKind::kNvLink, {"links_per_neighbour"}},
    TopologyEntry{Topology::kTorus, draw_torus, LinkKind::kNvLink, {"links_per_neighbour", "dims"}},
    TopologyEntry{Topology::kCubeMesh, draw_cube_mesh, LinkKind::kNvLink},
    TopologyEntry{Topology::kPcieTree, draw_pcie_tree, LinkKind::kPcie, {"groups"}},
};
static_assert(kTopologies.size() == kTopologyNames.size(), "every topology has an entry");

// Packets keep node numbers in 24 bits, and what stands before a link takes tens of kilobytes of the
// simulator's memory: this is the most that is allowed.
inline constexpr std::int64_t kMaxNodes = 200'000;
inline constexpr std::int64_t kMaxLinks = 2'000'000;

/// To be asked before anything is allocated. `path` is the parameter to blame.
sim::Status within_bounds(const std::string& path, std::int64_t nodes, std::int64_t cables);

/// Refuses a count below one.
sim::Status at_least_one(const std::string& path, int count);

/// Refuses GPUs that cannot be dealt out evenly to `groups`. Grants: 1 <= groups <= gpus otherwise.
sim::Status even_groups(int gpus, int groups);

}  // namespace infold::net
