// Torus of two or three dimensions, and the ring, which is a torus of one. GPU number = x + X*(y + Y*z).
// On a side of two, both ways round lead to the same neighbour: it gets one set of cables, not two.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "net/topology/topologies.h"

namespace infold::net {
namespace {

// Requires: sides of at least two whose product is `gpus`.
Drawing wrapped_grid(const FabricSpec& spec, int gpus, const std::vector<int>& sides) {
  const int parallel = spec.links_per_neighbour;
  if (auto ok = at_least_one("fabric.links_per_neighbour", parallel); !ok) return sim::fail(ok.error());
  std::int64_t neighbours = 0;  // pairs of them
  for (int side : sides) neighbours += side == 2 ? gpus / 2 : gpus;
  const std::int64_t cables = neighbours * parallel;
  if (auto ok = within_bounds("fabric.links_per_neighbour", gpus, cables); !ok) return sim::fail(ok.error());

  Blueprint blueprint = chips(gpus, 0);
  blueprint.style = RoutingStyle::kDimensionOrder;
  blueprint.dims = sides;
  blueprint.cables.reserve(static_cast<std::size_t>(cables));
  int stride = 1;
  for (int side : sides) {
    for (int gpu = 0; gpu < gpus; ++gpu) {
      const int at = gpu / stride % side;
      const bool wraps = at == side - 1;
      if (wraps && side == 2) continue;
      join(blueprint, gpu, wraps ? gpu - at * stride : gpu + stride, parallel);
    }
    stride *= side;
  }
  return blueprint;
}

}  // namespace

Drawing draw_ring(const FabricSpec& spec, int gpus) {
  if (gpus < 2) return sim::fail(fmt::format("a ring needs at least 2 GPUs, not {}", gpus), "gpus");
  return wrapped_grid(spec, gpus, {gpus});
}

Drawing draw_torus(const FabricSpec& spec, int gpus) {
  const std::vector<int>& sides = spec.dims;
  if (sides.size() != 2 && sides.size() != 3) {
    return sim::fail(fmt::format("a torus has two or three sides, not {}", sides.size()), "fabric.dims");
  }
  std::int64_t product = 1;
  for (int side : sides) {
    if (side < 2) {
      return sim::fail(fmt::format("a torus side is at least 2 GPUs long, not {}", side), "fabric.dims");
    }
    if (product <= kMaxNodes) product *= side;  // beyond, the exact number does not matter
  }
  if (product != gpus) {
    const std::string makes =
        product > kMaxNodes ? fmt::format("more than {}", kMaxNodes) : fmt::to_string(product);
    return sim::fail(fmt::format("torus sides {} make {} GPUs, not {}", fmt::join(sides, "x"), makes, gpus),
                     "fabric.dims");
  }
  return wrapped_grid(spec, gpus, sides);
}

}  // namespace infold::net
