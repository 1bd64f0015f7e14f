// A blueprint seen from its chips and links: which links leave a chip, where a link starts and ends.
// Internal to net/; made once for the router and the deadlock check.
#pragma once

#include <span>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::net {

inline NodeId link_source(const Blueprint& blueprint, LinkId link) {
  const Cable& cable = blueprint.cables[link / 2u];
  return link % 2u == 0 ? cable.a : cable.b;
}

inline NodeId link_target(const Blueprint& blueprint, LinkId link) {
  const Cable& cable = blueprint.cables[link / 2u];
  return link % 2u == 0 ? cable.b : cable.a;
}

class Adjacency {
 public:
  struct Outlet {
    LinkId link;
    NodeId to;
  };

  explicit Adjacency(const Blueprint& blueprint) : outlets_(static_cast<std::size_t>(blueprint.nodes())) {
    for (std::size_t link = 0; link < 2 * blueprint.cables.size(); ++link) {
      const auto id = static_cast<LinkId>(link);
      outlets_[static_cast<std::size_t>(link_source(blueprint, id))].push_back(
          {id, link_target(blueprint, id)});
    }
  }

  /// In cable order, which for a GPU is lane order.
  std::span<const Outlet> outlets(NodeId node) const { return outlets_[static_cast<std::size_t>(node)]; }

 private:
  std::vector<std::vector<Outlet>> outlets_;
};

}  // namespace infold::net
