// PCIe tree: `groups` PCIe switches with an equal share of the GPUs each, and above them a root.
// With a single switch there is nothing for a root to join, and none is drawn.
#include "net/topology/topologies.h"

namespace infold::net {

Drawing draw_pcie_tree(const FabricSpec& spec, int gpus) {
  const int groups = spec.groups;
  if (auto ok = even_groups(gpus, groups); !ok) return sim::fail(ok.error());
  const int roots = groups > 1 ? 1 : 0;
  const int cables = gpus + groups * roots;
  if (auto ok = within_bounds("fabric.groups", gpus + groups + roots, cables); !ok)
    return sim::fail(ok.error());

  const int root = gpus + groups;
  const int gpus_per_group = gpus / groups;
  Blueprint blueprint = chips(gpus, groups + roots);
  blueprint.cables.reserve(static_cast<std::size_t>(cables));
  for (int gpu = 0; gpu < gpus; ++gpu) join(blueprint, gpu, gpus + gpu / gpus_per_group);
  for (int group = 0; group < groups * roots; ++group) join(blueprint, gpus + group, root);
  return blueprint;
}

}  // namespace infold::net
