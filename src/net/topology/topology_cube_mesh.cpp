// The hybrid cube mesh of DGX-1V: two quads of fully joined V100s, each GPU also joined to its twin in the
// other quad, six NVLinks a GPU. Parallel links as `nvidia-smi topo -m` prints them on that machine.
#include <fmt/format.h>

#include <array>

#include "net/topology/topologies.h"

namespace infold::net {
namespace {

struct Bond {
  int a;
  int b;
  int links;
};

// In order of (a, b), so that every GPU's lanes are in the order of its neighbours.
constexpr std::array kBonds = {
    Bond{0, 1, 1}, Bond{0, 2, 1}, Bond{0, 3, 2}, Bond{0, 4, 2},  // first quad, and the links to the twins
    Bond{1, 2, 2}, Bond{1, 3, 1}, Bond{1, 5, 2},                 //
    Bond{2, 3, 2}, Bond{2, 6, 1},                                //
    Bond{3, 7, 1},                                               //
    Bond{4, 5, 1}, Bond{4, 6, 1}, Bond{4, 7, 2},                 // second quad, its mirror image
    Bond{5, 6, 2}, Bond{5, 7, 1},                                //
    Bond{6, 7, 2},
};

constexpr bool six_links_each() {
  for (int gpu = 0; gpu < 8; ++gpu) {
    int links = 0;
    for (const Bond& bond : kBonds) links += bond.a == gpu || bond.b == gpu ? bond.links : 0;
    if (links != 6) return false;
  }
  return true;
}
static_assert(six_links_each(), "a V100 has six NVLinks, and DGX-1V uses all of them");

}  // namespace

Drawing draw_cube_mesh(const FabricSpec&, int gpus) {
  if (gpus != 8) return sim::fail(fmt::format("a cube mesh has exactly 8 GPUs, not {}", gpus), "gpus");
  Blueprint blueprint = chips(gpus, 0);
  blueprint.style = RoutingStyle::kByDistance;
  for (const Bond& bond : kBonds) join(blueprint, bond.a, bond.b, bond.links);
  return blueprint;
}

}  // namespace infold::net
