// How ranks are grouped for a hierarchical collective: a grid whose sides follow the fabric. Internal to
// coll/.
#pragma once

#include <span>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::coll {

/// Rank `rank_at[i]` stands at coordinates (i % sides[0], i / sides[0] % sides[1], ...).
struct Levels {
  std::vector<int> sides;
  std::vector<int> rank_at;
  /// All sides are alike, so different parts of a message may start with different ones.
  bool grid = false;
};

/// Torus: its own sides. Fat tree, PCIe tree, cube mesh: within the groups first, then between them.
/// Otherwise, and where only some GPUs of a torus take part, a grid as square as the number of ranks allows.
/// Groups of different sizes can not be dealt with, and make one level of all.
Levels find_levels(const net::Blueprint& blueprint, std::span<const int> gpus);

}  // namespace infold::coll
