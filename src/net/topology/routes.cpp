// Fills the routing tables, one destination at a time, in one of the three styles of a blueprint.
// Equal candidate lists of a node are stored once, so that memory grows with links.
#include "net/topology/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "net/topology/adjacency.h"
#include "net/topology/twins.h"

namespace infold::net {
/// What RouteBuilder is made of. It has a name, because RouteBuilder is a friend of Routes and has one.
namespace routing {

constexpr int kFar = -1;
constexpr int kMostLayersOfAHop = 256;  // by Hop::layer

/// Where each different list of candidates is stored. The key is the list of the first twin; those of the
/// others stand behind it. A link leads to the twins of one column or leaves those of one row, so equal keys
/// have equal lists behind them.
class CandidateLists {
 public:
  /// Index of the first candidate, and whether the lists still have to be stored there.
  std::pair<std::uint32_t, bool> find(const std::vector<LinkId>& list, std::size_t stored) {
    const auto [entry, is_new] = known_.try_emplace(list, static_cast<std::uint32_t>(stored));
    return {entry->second, is_new};
  }

 private:
  struct Hash {
    std::size_t operator()(const std::vector<LinkId>& list) const {
      std::size_t hash = list.size();
      for (LinkId link : list) hash = (hash ^ link) * 0x9e3779b97f4a7c15u;
      return hash ^ (hash >> 32);
    }
  };
  std::unordered_map<std::vector<LinkId>, std::uint32_t, Hash> known_;
};

/// Hops from every node to one destination, by breadth-first search from there.
class Distances {
 public:
  Distances(const Blueprint& blueprint, const Adjacency& adjacency, bool through_gpus)
      : blueprint_(blueprint), adjacency_(adjacency), through_gpus_(through_gpus) {}

  /// Returns the steps that it took.
  std::int64_t measure(NodeId to) {
    std::int64_t steps = 0;
    hops_.assign(static_cast<std::size_t>(blueprint_.nodes()), kFar);
    at(to) = 0;
    queue_.assign(1, to);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const NodeId node = queue_[i];
      if (!passes_on(node, to)) continue;
      steps += static_cast<std::int64_t>(adjacency_.outlets(node).size());
      for (const Adjacency::Outlet& outlet : adjacency_.outlets(node)) {
        if (at(outlet.to) != kFar) continue;
        at(outlet.to) = at(node) + 1;
        queue_.push_back(outlet.to);
      }
    }
    return steps;
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

}  // namespace routing

/// Fills the tables column by column.
class RouteBuilder {
 public:
  RouteBuilder(const Blueprint& blueprint, const sim::GoOn& go_on)
      : blueprint_(blueprint),
        adjacency_(blueprint),
        distances_(blueprint, adjacency_, blueprint.style == RoutingStyle::kByDistance),
        patience_(go_on),
        routes_(blueprint.gpus, Twins(blueprint, adjacency_)) {}

  sim::Result<Routes> build() {
    const std::size_t columns = twins().gpu_groups();
    if (columns * twins().groups() > Routes::kMostHops) {
      return sim::fail(
          fmt::format(
              "that makes routing tables of {} x {} entries, because so many GPUs and switches differ "
              "in their neighbours; the limit is {} million entries",
              twins().groups(), columns, Routes::kMostHops / 1'000'000),
          "gpus");
    }
    routes_.hops_.resize(columns * twins().groups());
    for (std::uint32_t column = 0; column < columns; ++column) {
      if (blueprint_.style != RoutingStyle::kDimensionOrder &&
          patience_.ended_after(distances_.measure(twins().members(column).front())))
        return sim::interrupted();
      for (std::uint32_t row = 0; row < twins().groups(); ++row) {
        if (patience_.ended_after(note(row, column))) return sim::interrupted();
      }
      if (routes_.layers_ > routing::kMostLayersOfAHop) {
        return sim::fail(
            fmt::format("routing to gpu{} needs {} layers of virtual channels; the most that a "
                        "hop can name is {}",
                        twins().members(column).front(), routes_.layers_, routing::kMostLayersOfAHop),
            "fabric.topology");
      }
    }
    return std::move(routes_);
  }

 private:
  const Twins& twins() const { return routes_.twins(); }

  struct Direction {
    int distance;
    int layer;
  };

  /// Notes the way from the nodes of a row to the GPUs of a column. Returns the steps that it took.
  std::int64_t note(std::uint32_t row, std::uint32_t column) {
    const NodeId to = twins().members(column).front();
    const auto sources = twins().members(row);
    if (row == column && sources.size() == 1) return 1;
    const NodeId from = row == column ? sources[1] : sources.front();
    const Direction direction = find_links(from, to);
    const auto steps = static_cast<std::int64_t>(adjacency_.outlets(from).size()) + 1;
    if (links_.empty()) return steps;

    // Only the last switch has links of its own to each twin.
    const bool last_switch = !blueprint_.is_gpu(from) && direction.distance == 1;
    const auto [first, is_new] = lists_.find(links_, routes_.candidates_.size());
    if (is_new && blueprint_.is_gpu(from)) {
      store_for_sources(from, sources);
    } else if (is_new && last_switch) {
      store_for_targets(from, column);
    } else if (is_new) {
      routes_.candidates_.insert(routes_.candidates_.end(), links_.begin(), links_.end());
    }
    const auto count = static_cast<std::uint16_t>(links_.size());
    routes_.hops_[std::size_t{row} * twins().gpu_groups() + column] = {
        .first = first,
        .count = count,
        .divisor = blueprint_.spread_divisor[index_of(from)],
        .stride = blueprint_.is_gpu(from) || last_switch ? count : std::uint16_t{0},
        .links = static_cast<std::uint16_t>(direction.distance),
        .layer = static_cast<std::uint8_t>(direction.layer)};
    routes_.layers_ = std::max(routes_.layers_, direction.layer + 1);
    if (blueprint_.is_gpu(from)) routes_.diameter_ = std::max(routes_.diameter_, direction.distance);
    return steps;
  }

  /// Puts the links that lead from a node towards a GPU into links_, none where there is no way.
  Direction find_links(NodeId from, NodeId to) {
    const auto is_nearer = [&](NodeId next) { return distances_.on_the_way(from, next, to); };
    switch (blueprint_.style) {
      case RoutingStyle::kShortest: {
        take_links_to(from, is_nearer);
        return {distances_.from(from), 0};
      }
      case RoutingStyle::kByDistance: {
        NodeId lowest = blueprint_.nodes();
        for (const Adjacency::Outlet& outlet : adjacency_.outlets(from)) {
          if (is_nearer(outlet.to)) lowest = std::min(lowest, outlet.to);
        }
        take_links_to(from, [&](NodeId next) { return next == lowest; });
        return {distances_.from(from), distances_.from(from) - 1};
      }
      case RoutingStyle::kDimensionOrder:
        break;
    }
    const routing::TorusStep step = routing::torus_step(blueprint_.dims, from, to);
    take_links_to(from, [&](NodeId next) { return next == step.next; });
    return {step.hops, step.layer};
  }

  template <class Wanted>
  void take_links_to(NodeId from, Wanted&& wanted) {
    links_.clear();
    for (const Adjacency::Outlet& outlet : adjacency_.outlets(from)) {
      if (wanted(outlet.to)) links_.push_back(outlet.link);
    }
  }

  /// Stores the lanes in links_, which are those of `from`, for each of its twins.
  void store_for_sources(NodeId from, std::span<const NodeId> sources) {
    std::vector<std::size_t> lanes;
    const auto outlets = adjacency_.outlets(from);
    for (std::size_t lane = 0, next = 0; lane < outlets.size() && next < links_.size(); ++lane) {
      if (outlets[lane].link != links_[next]) continue;
      lanes.push_back(lane);
      ++next;
    }
    for (const NodeId source : sources) {
      for (const std::size_t lane : lanes)
        routes_.candidates_.push_back(adjacency_.outlets(source)[lane].link);
    }
  }

  /// Stores the links of a switch to each of the GPUs of a column.
  void store_for_targets(NodeId from, std::uint32_t column) {
    const std::size_t count = links_.size();
    const std::size_t first = routes_.candidates_.size();
    std::vector<std::size_t> stored(twins().members(column).size());
    routes_.candidates_.resize(first + count * stored.size());
    for (const Adjacency::Outlet& outlet : adjacency_.outlets(from)) {
      const TwinPlace& place = twins().place(outlet.to);
      if (place.group != column) continue;
      routes_.candidates_[first + place.member * count + stored[place.member]++] = outlet.link;
    }
  }

  const Blueprint& blueprint_;
  Adjacency adjacency_;
  routing::Distances distances_;
  sim::Patience patience_;
  routing::CandidateLists lists_;
  std::vector<LinkId> links_;  // of the entry that is being made
  Routes routes_;
};

sim::Result<Routes> Routes::make(const Blueprint& blueprint, const sim::GoOn& go_on) {
  return RouteBuilder(blueprint, go_on).build();
}

}  // namespace infold::net
