// GPUs that are joined to the same switches in the same way. Ways to and from such twins differ in their last
// and first link only, so routing tables have one row and one column for all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::net {

class Adjacency;

/// Where a node stands in the routing tables.
struct TwinPlace {
  std::uint32_t group = 0;   ///< its row; for a GPU also its column
  std::uint32_t member = 0;  ///< its number among its twins; 0 for a switch
};

/// The groups of twins, each in the order of its GPUs' numbers, and behind them every switch as a group of
/// its own. A GPU that is joined to another GPU has no twins, nor has any where packets pass through GPUs.
class Twins {
 public:
  Twins(const Blueprint& blueprint, const Adjacency& adjacency);

  std::uint32_t gpu_groups() const { return gpu_groups_; }
  std::uint32_t groups() const { return static_cast<std::uint32_t>(first_.size() - 1); }
  std::span<const NodeId> members(std::uint32_t group) const {
    return {members_.data() + first_[group], members_.data() + first_[group + 1]};
  }
  const TwinPlace& place(NodeId node) const { return places_[index_of(node)]; }
  /// By node.
  const TwinPlace* places() const { return places_.data(); }

 private:
  std::uint32_t gpu_groups_ = 0;
  std::vector<TwinPlace> places_;   // by node
  std::vector<NodeId> members_;     // group after group
  std::vector<std::size_t> first_;  // by group, and one behind the last
};

}  // namespace infold::net
