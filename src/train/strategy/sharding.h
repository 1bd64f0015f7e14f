// What strategies that shard parameters have in common: the ranks that share them, and what a recipe says
// then.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/result.h"
#include "train/layout.h"
#include "train/plan.h"
#include "train/strategy/sync_spec.h"

namespace infold::train {

Sharding sharding_of(SyncKind kind);

/// The ranks among which one copy of a parameter is divided, and those that hold the same shard of it. Both
/// leave out groups of one rank.
struct ShardGroups {
  std::vector<std::vector<int>> shards;
  std::vector<std::vector<int>> replicas;
  int shard_size = 1;
  int replica_size = 1;
};
ShardGroups shard_groups(const SyncSpec& sync, const Layout& layout, Axis axis);

/// The recipe that a plan of this strategy is made from: weights may be gathered, and each rank updates its
/// shard.
Recipe sharded(Recipe recipe, const SyncSpec& sync, const Layout& layout);

/// Refuses what a strategy cannot do in a layout.
sim::Status check_sync(const SyncSpec& sync, const Layout& layout);

/// How many elements fill a bucket of gradients that are reduce-scattered after backward has begun:
/// Megatron-LM's rule, unless the spec has a number.
std::int64_t bucket_elements(const SyncSpec& sync, int shards);

/// Elements as they are sent: shards are of equal size, and begin where 16 bytes do.
std::int64_t padded(std::int64_t elements, int shards);

}  // namespace infold::train
