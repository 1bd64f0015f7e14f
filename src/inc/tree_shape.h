// A tree of switches as the plan of a machine sees it: chips and links by their numbers. Regions put it on
// the links of a network (inc/regions.h), and the deadlock check follows its packets (inc/tree_deadlock.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "net/topology/adjacency.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"

namespace infold::inc {

struct TreeShape {
  struct Child {
    net::NodeId node = 0;
    net::LinkId out = 0;        ///< the link down to it
    std::uint32_t first = 0;    ///< lowest rank below it
    std::uint32_t members = 0;  ///< ranks below it
  };
  struct Node {
    net::NodeId chip = 0;
    std::optional<net::LinkId> parent;  ///< the link up; none at the root
    std::vector<Child> children;        ///< in order of their lowest rank
    std::uint32_t members = 0;          ///< ranks below it
    std::uint32_t first_elsewhere = 0;  ///< lowest rank that is not below it, where there is one
  };
  std::vector<Node> nodes;  ///< the root is last
};

/// Grows trees along the routes of a fabric.
class TreeGrower {
 public:
  /// Both must outlive it.
  TreeGrower(const net::Blueprint& blueprint, const net::Routes& routes);

  /// The number of different routes.
  std::uint16_t ways() const { return ways_; }
  /// The tree of one route over these GPUs; nothing when their routes do not meet. Requires: members.
  std::optional<TreeShape> grow(std::span<const net::NodeId> members, std::uint16_t way) const;

 private:
  const net::Blueprint& blueprint_;
  const net::Routes& routes_;
  net::Adjacency adjacency_;
  std::uint16_t ways_ = 1;
};

}  // namespace infold::inc
