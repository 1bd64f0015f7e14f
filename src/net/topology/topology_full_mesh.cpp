// Full mesh (MI300X platforms): every GPU has links to every other, and there is no switch.
// Lanes of a GPU: all links to its lowest-numbered neighbour, then the next, and so on.
#include <fmt/format.h>

#include "net/topology/topologies.h"

namespace infold::net {

Drawing draw_full_mesh(const FabricSpec& spec, int gpus) {
  if (gpus < 2) return sim::fail(fmt::format("a full mesh needs at least 2 GPUs, not {}", gpus), "gpus");
  const int parallel = spec.links_per_neighbour;
  if (auto ok = at_least_one("fabric.links_per_neighbour", parallel); !ok) return sim::fail(ok.error());
  const std::int64_t pairs = std::int64_t{gpus} * (gpus - 1) / 2;
  if (auto ok = within_bounds("gpus", gpus, pairs); !ok) return sim::fail(ok.error());
  const std::int64_t cables = pairs * parallel;
  if (auto ok = within_bounds("fabric.links_per_neighbour", gpus, cables); !ok) return sim::fail(ok.error());

  Blueprint blueprint = chips(gpus, 0);
  blueprint.cables.reserve(static_cast<std::size_t>(cables));
  for (int a = 0; a < gpus; ++a) {
    for (int b = a + 1; b < gpus; ++b) join(blueprint, a, b, parallel);
  }
  return blueprint;
}

}  // namespace infold::net
