// Registers regions: a tree for each route, and a home GPU for each block.
#include "inc/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inc/inc_spec.h"
#include "inc/policy_sharing.h"
#include "sim/check.h"

namespace infold::inc {

std::uint16_t Region::below(const Tree& tree, const TreeNode& node, std::uint32_t offset) const {
  if (everybody()) return node.members;
  std::uint16_t sum = 0;
  for (const TreeNode::Child& c : node.children)
    sum = static_cast<std::uint16_t>(sum + below(tree, c, offset));
  return sum;
}

std::uint16_t Region::lowest(const Tree& tree, const TreeNode::Child& child, std::uint32_t offset) const {
  if (everybody()) return child.first;
  if (tree.is_gpu(child.node)) return takes_part(child.first, offset) ? child.first : kNobody;
  std::uint16_t least = kNobody;
  for (const TreeNode::Child& c : tree.at(child.node).children)
    least = std::min(least, lowest(tree, c, offset));
  return least;
}

std::uint16_t Region::lowest_elsewhere(const Tree& tree, const TreeNode& node, std::uint32_t offset) const {
  if (everybody()) return node.parent == net::kNoLink ? kNobody : node.first_elsewhere;
  std::set<int> here;
  const auto collect = [&](const auto& self, const TreeNode& at) -> void {
    for (const TreeNode::Child& c : at.children)
      tree.is_gpu(c.node) ? void(here.insert(c.first)) : self(self, tree.at(c.node));
  };
  collect(collect, node);
  for (int rank = 0; rank < members(); ++rank) {
    if (takes_part(rank, offset) && !here.contains(rank)) return static_cast<std::uint16_t>(rank);
  }
  return kNobody;
}

Regions::Regions(const net::FabricMap& map, const net::Interleaving& interleaving, const IncSpec& spec)
    : map_(map), interleaving_(interleaving), spec_(spec), grower_(map.blueprint(), map.routes()) {}

sim::Result<RegionId> Regions::add(RegionPlan plan) {
  if (plan.members.empty() || plan.members.size() > kMostMembers)
    return sim::fail(fmt::format("a group has 1 to {} members, not {}", kMostMembers, plan.members.size()),
                     "gpus");
  if (plan.bytes <= sim::Bytes{} || plan.bytes > sim::Bytes::gib(3))
    return sim::fail("a region has 1 byte to 3 GiB", "bytes");
  // Places are used in turn, so that a late reminder does not find another region in place of its own.
  std::size_t place = next_;
  while (place < regions_.size() && regions_[place] != nullptr) ++place;
  if (place == kMostRegions) {
    place = 0;
    while (place < kMostRegions && regions_[place] != nullptr) ++place;
  }
  if (place == kMostRegions)
    return sim::fail(fmt::format("more than {} regions at a time", kMostRegions), "inc");
  auto region = std::make_unique<Region>();
  region->id = static_cast<RegionId>(place);
  for (std::uint16_t way = 0; way < ways(); ++way) {
    auto tree = Tree::grow(map_.gpus(), grower_, plan.members, way);
    if (!tree) {
      return sim::fail("the ways of these GPUs do not meet in a switch, so none can sum for them",
                       "fabric.topology");
    }
    region->trees_.push_back(std::move(*tree));
  }
  // Every rank gets whole packets; the last ranks may get fewer, or none.
  region->packet_ = plan.block > sim::Bytes{} ? plan.block.count() : spec_.payload.count();
  INFOLD_CHECK(region->packet_ <= spec_.payload.count(), "an entry has room for a packet");
  const std::int64_t packet = region->packet_ * plan.burst;
  const auto ranks = static_cast<std::int64_t>(plan.members.size());
  const std::int64_t packets = (plan.bytes.count() + packet - 1) / packet;
  region->block_ = static_cast<std::uint32_t>(packet);
  region->part_ = static_cast<std::uint32_t>(
      plan.part > sim::Bytes{} ? plan.part.count() : (packets + ranks - 1) / ranks * packet);
  INFOLD_CHECK(region->part_ % region->block_ == 0, "a part is whole blocks");
  region->plan = std::move(plan);
  const RegionId id = region->id;
  if (place >= regions_.size()) regions_.resize(place + 1);
  regions_[place] = std::move(region);
  next_ = place + 1;
  number_partitions();
  return id;
}

void Regions::remove(RegionId id) {
  INFOLD_CHECK(id < regions_.size() && regions_[id] != nullptr, "a region is removed once");
  regions_[id] = nullptr;
  number_partitions();
}

void Regions::number_partitions() {
  std::set<int> jobs;
  std::uint32_t buckets = 0;
  for (const auto& r : regions_) {
    if (r == nullptr) continue;
    jobs.insert(r->plan.job);
    ++buckets;
  }
  active_partitions_ = partitions_of(spec_.sharing, static_cast<std::uint32_t>(jobs.size()), buckets);
  for (const auto& r : regions_) {
    if (r != nullptr) r->partition = partition_of(spec_.sharing, r->plan.job, r->id);
  }
}

}  // namespace infold::inc
