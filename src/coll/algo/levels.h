// How ranks are grouped for a hierarchical collective: a grid whose sides follow the fabric. Internal to
// coll/.
#pragma once

#include <span>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::coll {

/// Rank `rank_at[i]` has the coordinates (i % sides[0], i / sides[0] % sides[1], ...).
struct Levels {
  std::vector<int> sides;
  std::vector<int> rank_at;
  /// All sides are alike, so different parts of a message may start with different sides.
  bool grid = false;
};

/// A torus has its own sides. In a fat tree, PCIe tree or cube mesh, the first side is within the groups and
/// the second between them. Otherwise, and where only some GPUs of a torus take part, the grid is as square
/// as the number of ranks allows. Groups of different sizes are not supported, and give one level of all
/// ranks.
Levels find_levels(const net::Blueprint& blueprint, std::span<const int> gpus);

}  // namespace infold::coll
