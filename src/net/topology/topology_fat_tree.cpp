// Two-level fat tree: groups of GPUs under leaf switches, joined by spine switches. A GPU has one link to
// each leaf of its group; leaf l of every group has one link to each of spines [l*s, (l+1)*s), s = spines /
// leaves.
#include <fmt/format.h>

#include "net/topology/topologies.h"

namespace infold::net {

// The spread value picks the leaf by spread % leaves at the GPU, and the spine by spread / leaves at the
// leaf: were both picked by spread % n, a leaf would see only values of one remainder and leave up-links
// unused. Spread values 0 .. spines-1 thus use every way between two groups exactly once.
//
// A single group has nothing to join: its spines are not drawn and their number does not matter.
Drawing draw_fat_tree(const FabricSpec& spec, int gpus) {
  const int groups = spec.groups;
  const int leaves = spec.leaves_per_group;
  if (auto ok = even_groups(gpus, groups); !ok) return sim::fail(ok.error());
  if (auto ok = at_least_one("fabric.leaves_per_group", leaves); !ok) return sim::fail(ok.error());
  const std::int64_t lower_nodes = gpus + std::int64_t{groups} * leaves;
  const std::int64_t lower_cables = std::int64_t{gpus} * leaves;
  if (auto ok = within_bounds("fabric.leaves_per_group", lower_nodes, lower_cables); !ok)
    return sim::fail(ok.error());

  const int spines = groups > 1 ? spec.spines : 0;
  if (groups > 1) {
    if (auto ok = at_least_one("fabric.spines", spines); !ok) return sim::fail(ok.error());
    if (spines % leaves != 0) {
      return sim::fail(
          fmt::format("{} spines are not a multiple of the {} leaves of a group", spines, leaves),
          "fabric.spines");
    }
  }
  const std::int64_t cables = lower_cables + std::int64_t{groups} * spines;
  if (auto ok = within_bounds("fabric.spines", lower_nodes + spines, cables); !ok)
    return sim::fail(ok.error());

  const int gpus_per_group = gpus / groups;
  const int spines_per_leaf = spines / leaves;
  const int first_spine = gpus + groups * leaves;
  const auto leaf_of = [&](int group, int leaf) { return gpus + group * leaves + leaf; };

  Blueprint blueprint = chips(gpus, groups * leaves + spines);
  blueprint.cables.reserve(static_cast<std::size_t>(cables));
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (int leaf = 0; leaf < leaves; ++leaf) join(blueprint, gpu, leaf_of(gpu / gpus_per_group, leaf));
  }
  for (int group = 0; group < groups; ++group) {
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const int chip = leaf_of(group, leaf);
      blueprint.spread_divisor[static_cast<std::size_t>(chip)] = static_cast<std::uint16_t>(leaves);
      for (int up = 0; up < spines_per_leaf; ++up) {
        join(blueprint, chip, first_spine + leaf * spines_per_leaf + up);
      }
    }
  }
  return blueprint;
}

}  // namespace infold::net
