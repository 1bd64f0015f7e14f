// Finds twins by the list of their neighbours, lane by lane.
#include "net/topology/twins.h"

#include <algorithm>
#include <map>
#include <utility>

#include "net/topology/adjacency.h"

namespace infold::net {

namespace {

/// What twins have in common: the far ends of their lanes, and how they spread packets over these.
using Likeness = std::pair<std::vector<NodeId>, std::uint16_t>;

}  // namespace

Twins::Twins(const Blueprint& blueprint, const Adjacency& adjacency) : places_(index_of(blueprint.nodes())) {
  std::map<Likeness, std::uint32_t> known;
  std::vector<std::uint32_t> sizes;
  const auto add = [&](NodeId node, std::uint32_t group) {
    if (group == sizes.size()) sizes.push_back(0);
    places_[index_of(node)] = {group, sizes[group]++};
  };
  for (NodeId gpu = 0; gpu < blueprint.gpus; ++gpu) {
    const auto alone = static_cast<std::uint32_t>(sizes.size());
    const auto outlets = adjacency.outlets(gpu);
    const bool joins_gpus =
        std::ranges::any_of(outlets, [&](const Adjacency::Outlet& o) { return blueprint.is_gpu(o.to); });
    if (joins_gpus || blueprint.style != RoutingStyle::kShortest) {
      add(gpu, alone);
      continue;
    }
    Likeness likeness{{}, blueprint.spread_divisor[index_of(gpu)]};
    for (const Adjacency::Outlet& outlet : outlets) likeness.first.push_back(outlet.to);
    add(gpu, known.try_emplace(std::move(likeness), alone).first->second);
  }
  gpu_groups_ = static_cast<std::uint32_t>(sizes.size());
  for (NodeId chip = blueprint.gpus; chip < blueprint.nodes(); ++chip)
    add(chip, static_cast<std::uint32_t>(sizes.size()));

  first_.reserve(sizes.size() + 1);
  first_.push_back(0);
  for (const std::uint32_t size : sizes) first_.push_back(first_.back() + size);
  members_.resize(places_.size());
  for (NodeId node = 0; node < blueprint.nodes(); ++node) {
    const TwinPlace& place = places_[index_of(node)];
    members_[first_[place.group] + place.member] = node;
  }
}

}  // namespace infold::net
