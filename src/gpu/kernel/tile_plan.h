// Which tile a matrix product is cut into. Libraries choose by trying. This code tries candidates with an
// estimate: the time of one wave of workgroups at the same rates that the simulation uses.
#pragma once

#include <cstdint>
#include <optional>

#include "gpu/gpu_spec.h"
#include "gpu/kernel/product.h"
#include "gpu/kernel/tile_loop.h"
#include "gpu/sm/launch.h"

namespace infold::gpu {

struct TilePlan {
  int m = 128;
  int n = 128;
  int k = 64;      ///< depth of a slab
  int stages = 3;  ///< slabs in shared memory
  int split = 1;   ///< workgroups that share the k of a tile

  Footprint footprint(Precision p) const;
  std::int64_t tiles_down(const Product& product) const { return (product.m + m - 1) / m; }
  std::int64_t tiles_across(const Product& product) const { return (product.n + n - 1) / n; }
  /// The number of tiles of all groups.
  std::int64_t tiles(const Product& product) const {
    return tiles_down(product) * tiles_across(product) * product.groups;
  }
  std::int64_t slabs(const Product& product) const { return (product.k + k - 1) / k; }
};

/// The cost of a slab inside an SM.
TileLoop::Pace pace_of(const GpuSpec& spec, const TilePlan& plan, Precision precision);

/// The estimated time of the product on `sms` SMs, in seconds.
double estimate(const GpuSpec& spec, int sms, const Product& product, const TilePlan& plan);

/// The plan with the smallest estimate that the GPU can run.
TilePlan choose_tile(const GpuSpec& spec, int sms, const Product& product);
/// The best plan with this tile; nothing if it does not fit an SM.
std::optional<TilePlan> choose_stages(const GpuSpec& spec, int sms, const Product& product, int m, int n);

}  // namespace infold::gpu
