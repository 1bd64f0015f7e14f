// A fabric as it was drawn: which link leads where, and which way packets take. For those that plan with the
// shape of a fabric and need not see the packets in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "net/topology/adjacency.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"

namespace infold::net {

class FabricMap {
 public:
  /// Requires: `routes` are those of the blueprint; both outlive the map.
  FabricMap(const Blueprint& blueprint, const Routes& routes)
      : blueprint_(blueprint), routes_(routes), adjacency_(blueprint) {}

  int gpus() const { return blueprint_.gpus; }
  int nodes() const { return blueprint_.nodes(); }
  bool is_gpu(NodeId node) const { return blueprint_.is_gpu(node); }
  /// Number of links; their ids are below it.
  std::size_t links() const { return 2 * blueprint_.cables.size(); }
  NodeId from(LinkId link) const { return link_source(blueprint_, link); }
  NodeId to(LinkId link) const { return link_target(blueprint_, link); }
  const LinkType& type(LinkId link) const { return blueprint_.type_of(blueprint_.cables[link / 2]); }
  /// The other direction of the same cable.
  static LinkId back(LinkId link) { return link ^ 1U; }
  const Blueprint& blueprint() const { return blueprint_; }
  const Routes& routes() const { return routes_; }
  /// The link that a packet with this spread value takes. Requires: `to` is another node, and reachable.
  LinkId next(NodeId from, NodeId to, std::uint16_t spread) const { return routes_.next(from, to, spread); }
  /// In lane order.
  std::span<const Adjacency::Outlet> outlets(NodeId node) const { return adjacency_.outlets(node); }
  /// The link by which a packet with this spread value leaves a GPU for the switch next to it.
  const Adjacency::Outlet& lane_of(NodeId gpu, std::uint16_t spread) const {
    const auto lanes = outlets(gpu);
    return lanes[spread % lanes.size()];
  }
  std::string name(NodeId node) const { return node_name(node, blueprint_.gpus); }

 private:
  const Blueprint& blueprint_;
  const Routes& routes_;
  Adjacency adjacency_;
};

}  // namespace infold::net
