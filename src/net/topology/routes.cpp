// Fills the routing tables, one destination at a time, in one of the three styles of a blueprint.
// Equal candidate lists of a node are stored once, so memory grows with links, not with nodes x GPUs x lanes.
#include "net/topology/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "net/topology/adjacency.h"

namespace infold::net {
namespace {

constexpr int kFar = -1;
constexpr int kMostNamed = 256;  // layers, by Hop::layer

/// Stores candidate lists one behind the other, each different one once.
class CandidateLists {
 public:
  std::uint32_t index_of(const std::vector<LinkId>& list) {
    const auto [entry, is_new] = known_.try_emplace(list, static_cast<std::uint32_t>(stored_.size()));
    if (is_new) stored_.insert(stored_.end(), list.begin(), list.end());
    return entry->second;
  }
  std::vector<LinkId> take() { return std::move(stored_); }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<LinkId>& list) const {
      std::size_t hash = list.size();
      for (LinkId link : list) hash = (hash ^ link) * 0x9e3779b97f4a7c15u;
      return hash ^ (hash >> 32);
    }
  };
  std::unordered_map<std::vector<LinkId>, std::uint32_t, Hash> known_;
  std::vector<LinkId> stored_;
};

/// Hops from every node to one destination, by breadth-first search from there.
class Distances {
 public:
  Distances(const Blueprint& blueprint, const Adjacency& adjacency, bool through_gpus)
      : blueprint_(blueprint), adjacency_(adjacency), through_gpus_(through_gpus) {}

  void measure(NodeId to) {
    hops_.assign(static_cast<std::size_t>(blueprint_.nodes()), kFar);
    at(to) = 0;
    queue_.assign(1, to);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const NodeId node = queue_[i];
      if (!passes_on(node, to)) continue;
      for (const Adjacency::Outlet& outlet : adjacency_.outlets(node)) {
        if (at(outlet.to) != kFar) continue;
        at(outlet.to) = at(node) + 1;
        queue_.push_back(outlet.to);
      }
    }
  }

  int from(NodeId node) const { return hops_[static_cast<std::size_t>(node)]; }
  bool on_the_way(NodeId node, NodeId next, NodeId to) const {
    return from(next) == from(node) - 1 && passes_on(next, to);
  }

 private:
  int& at(NodeId node) { return hops_[static_cast<std::size_t>(node)]; }
  bool passes_on(NodeId node, NodeId to) const {
    return through_gpus_ || node == to || !blueprint_.is_gpu(node);
  }

  const Blueprint& blueprint_;
  const Adjacency& adjacency_;
  bool through_gpus_;
  std::vector<int> hops_;
  std::vector<NodeId> queue_;
};

/// The next GPU on the way through a torus, one dimension after the other.
struct TorusStep {
  int next;
  int hops;  ///< still to go, this one included
  int layer;
};

// The dateline of a dimension is its wrap link. A packet that still has to cross it travels in layer 0, any
// other in layer 1: layer 0 is never used on the first link behind the dateline and layer 1 never on the wrap
// link, so neither closes the circle. The layer depends on where the packet is, not on where it came from.
TorusStep torus_step(const std::vector<int>& sides, int from, int to) {
  TorusStep step{from, 0, 0};
  int stride = 1;
  for (int side : sides) {
    const int at = from / stride % side;
    const int goal = to / stride % side;
    const int ahead = (goal - at + side) % side;
    const int behind = side - ahead;
    if (ahead != 0) {
      const bool up = ahead <= behind;
      if (step.hops == 0) {
        const int next = up ? (at + 1) % side : (at + side - 1) % side;
        step.next = from + (next - at) * stride;
        step.layer = (up ? goal < at : goal > at) ? 0 : 1;
      }
      step.hops += std::min(ahead, behind);
    }
    stride *= side;
  }
  return step;
}

}  // namespace

sim::Result<Routes> Routes::make(const Blueprint& blueprint, const sim::GoOn& go_on) {
  Routes routes(blueprint);
  const Adjacency adjacency(blueprint);
  const auto nodes = static_cast<NodeId>(blueprint.nodes());
  CandidateLists lists;
  std::vector<LinkId> links;
  int layers = 1;

  // Notes the way from one node to one GPU: `distance` hops to go, first over one of `links`.
  const auto note = [&](NodeId from, NodeId to, int distance, int layer) {
    if (links.empty()) return;
    routes.hops_[routes.index_of(from, to)] = {
        .first = lists.index_of(links),
        .count = static_cast<std::uint16_t>(links.size()),
        .divisor = blueprint.spread_divisor[static_cast<std::size_t>(from)],
        .layer = static_cast<std::uint8_t>(layer),
        .links = static_cast<std::uint16_t>(distance)};
    layers = std::max(layers, layer + 1);
    if (blueprint.is_gpu(from)) routes.diameter_ = std::max(routes.diameter_, distance);
  };
  const auto take_links_to = [&](NodeId from, auto&& wanted) {
    links.clear();
    for (const Adjacency::Outlet& outlet : adjacency.outlets(from)) {
      if (wanted(outlet.to)) links.push_back(outlet.link);
    }
  };

  Distances distances(blueprint, adjacency, blueprint.style == RoutingStyle::kByDistance);
  for (NodeId to = 0; to < blueprint.gpus; ++to) {
    if (sim::asked_to_stop(go_on)) return sim::interrupted();
    if (blueprint.style != RoutingStyle::kDimensionOrder) distances.measure(to);
    for (NodeId from = 0; from < nodes; ++from) {
      if (from == to) continue;
      const auto is_nearer = [&](NodeId next) { return distances.on_the_way(from, next, to); };
      switch (blueprint.style) {
        case RoutingStyle::kShortest: {
          take_links_to(from, is_nearer);
          note(from, to, distances.from(from), 0);
          break;
        }
        case RoutingStyle::kByDistance: {
          NodeId lowest = nodes;
          take_links_to(from, [&](NodeId next) {
            if (is_nearer(next)) lowest = std::min(lowest, next);
            return false;
          });
          take_links_to(from, [&](NodeId next) { return next == lowest; });
          note(from, to, distances.from(from), distances.from(from) - 1);
          break;
        }
        case RoutingStyle::kDimensionOrder: {
          const TorusStep step = torus_step(blueprint.dims, from, to);
          take_links_to(from, [&](NodeId next) { return next == step.next; });
          note(from, to, step.hops, step.layer);
          break;
        }
      }
    }
    if (layers > kMostNamed) {
      return sim::fail(
          fmt::format("routing to gpu{} needs {} layers of virtual channels; the most that a hop "
                      "can name is {}",
                      to, layers, kMostNamed),
          "fabric.topology");
    }
  }
  routes.layers_ = layers;
  routes.candidates_ = lists.take();
  return routes;
}

}  // namespace infold::net
