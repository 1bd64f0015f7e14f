// Groups of shards and of replicas, within those that hold the same parameters.
#include "train/strategy/sharding.h"

#include <fmt/format.h>

#include <algorithm>

namespace infold::train {

Sharding sharding_of(SyncKind kind) {
  switch (kind) {
    case SyncKind::kZero1:
      return Sharding::kOptimizer;
    case SyncKind::kZero2:
      return Sharding::kGradients;
    case SyncKind::kFsdp:
    case SyncKind::kHsdp:
      return Sharding::kParameters;
    default:
      return Sharding::kNone;
  }
}

namespace {

/// How many ranks of a group share one copy.
int shard_size_of(const SyncSpec& sync, int ranks) {
  if (sharding_of(sync.kind) == Sharding::kNone) return 1;
  return sync.kind == SyncKind::kHsdp && ranks % sync.shard == 0 ? sync.shard : ranks;
}

}  // namespace

ShardGroups shard_groups(const SyncSpec& sync, const Layout& layout, Axis axis) {
  const int ranks = size_of(layout, axis);
  ShardGroups all;
  all.shard_size = shard_size_of(sync, ranks);
  all.replica_size = ranks / all.shard_size;
  const auto n = static_cast<std::size_t>(all.shard_size);
  for (const std::vector<int>& group : groups_of(layout, axis)) {
    std::vector<std::vector<int>> shards(group.size() / n);
    std::vector<std::vector<int>> replicas(n);
    for (std::size_t i = 0; i < group.size(); ++i) {
      shards[i / n].push_back(group[i]);
      replicas[i % n].push_back(group[i]);
    }
    if (all.shard_size > 1) all.shards.insert(all.shards.end(), shards.begin(), shards.end());
    if (all.replica_size > 1) all.replicas.insert(all.replicas.end(), replicas.begin(), replicas.end());
  }
  return all;
}

Recipe sharded(Recipe recipe, const SyncSpec& sync, const Layout& layout) {
  recipe.sharding = sharding_of(sync.kind);
  recipe.shards = shard_size_of(sync, size_of(layout, Axis::kReplica));
  recipe.expert_shards = shard_size_of(sync, size_of(layout, Axis::kExpertReplica));
  return recipe;
}

sim::Status check_sync(const SyncSpec& sync, const Layout& layout) {
  const int replicas = size_of(layout, Axis::kReplica);
  if (sync.kind == SyncKind::kHsdp && replicas % sync.shard != 0)
    return sim::fail(fmt::format("{} ranks that hold the same parameters cannot be divided into shards of {}",
                                 replicas, sync.shard),
                     "shard");
  const bool plain = layout.ranks() == layout.dp && layout.ep == 1;
  if ((sync.kind == SyncKind::kHorovod || sync.kind == SyncKind::kTensorflow) && !plain)
    return sim::fail(fmt::format("{} knows data parallelism only", sim::name_of(sync.kind)), "kind");
  return {};
}

std::int64_t bucket_elements(const SyncSpec& sync, int shards) {
  constexpr std::int64_t kMegatron = 40'000'000;
  constexpr std::int64_t kMegatronPerRank = 1'000'000;
  if (sync.bucket_elements > 0) return sync.bucket_elements;
  return std::max(kMegatron, kMegatronPerRank * shards);
}

std::int64_t padded(std::int64_t elements, int shards) {
  const std::int64_t unit = std::int64_t{8} * shards;
  return (elements + unit - 1) / unit * unit;
}

}  // namespace infold::train
