// Switch planes (DGX-2, HGX A100/H100, NVL72): every GPU has links to each of several switches that do not
// know each other. Lanes of a GPU: all links to plane 0, then all to plane 1, and so on.
#include <fmt/format.h>

#include <algorithm>

#include "net/topology/topologies.h"

namespace infold::net {

// Why plain lane order spreads evenly: a GPU's spread values 0 .. lanes-1 use each lane once. Those of the n
// lanes to one plane are consecutive, so modulo n they are distinct, and that switch's n links to the
// destination get one each.
Drawing draw_switch_planes(const FabricSpec& spec, int gpus) {
  if (auto ok = at_least_one("fabric.planes", spec.planes); !ok) return sim::fail(ok.error());
  if (auto ok = within_bounds("fabric.planes", std::int64_t{gpus} + spec.planes, 0); !ok)
    return sim::fail(ok.error());

  const auto planes = static_cast<std::size_t>(spec.planes);
  const std::vector<int>& listed = spec.links_per_plane;
  if (listed.size() != 1 && listed.size() != planes) {
    return sim::fail(fmt::format("has {} numbers; give one for all planes, or one for each of the {} planes",
                                 listed.size(), planes),
                     "fabric.links_per_plane");
  }
  for (int links : listed) {
    if (auto ok = at_least_one("fabric.links_per_plane", links); !ok) return sim::fail(ok.error());
  }
  const std::vector<int>& failed = spec.failed_planes;
  for (int plane : failed) {
    if (plane >= spec.planes)
      return sim::fail(fmt::format("there is no plane {}, they are 0 to {}", plane, spec.planes - 1),
                       "fabric.failed_planes");
  }
  const auto links_to = [&](std::size_t plane) {
    if (std::ranges::find(failed, static_cast<int>(plane)) != failed.end()) return 0;
    return listed.size() == 1 ? listed[0] : listed[plane];
  };

  std::int64_t lanes = 0;
  for (std::size_t plane = 0; plane < planes; ++plane) lanes += links_to(plane);
  if (lanes == 0) return sim::fail("no plane is left", "fabric.failed_planes");
  if (auto ok = within_bounds("fabric.links_per_plane", gpus + spec.planes, lanes * gpus); !ok)
    return sim::fail(ok.error());

  Blueprint blueprint = chips(gpus, spec.planes);
  blueprint.cables.reserve(static_cast<std::size_t>(lanes * gpus));
  for (int gpu = 0; gpu < gpus; ++gpu) {
    for (std::size_t plane = 0; plane < planes; ++plane) {
      join(blueprint, gpu, gpus + static_cast<int>(plane), links_to(plane));
    }
  }
  return blueprint;
}

}  // namespace infold::net
