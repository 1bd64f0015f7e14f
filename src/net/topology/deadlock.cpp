// Proof that a fabric can not block itself: follows every packet that can occur, notes which channel (a link
// and a layer) it holds while it waits for which next one, and looks for a circle among them (Dally and
// Seitz).
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "net/topology/adjacency.h"
#include "net/topology/cycle_search.h"
#include "net/topology/routes.h"

namespace infold::net {
namespace {

using Channel = std::uint32_t;

class DependencyGraph {
 public:
  DependencyGraph(const Blueprint& blueprint, const Routes& routes)
      : blueprint_(blueprint),
        routes_(routes),
        layers_(static_cast<std::size_t>(routes.layers())),
        words_((static_cast<std::size_t>(blueprint.gpus) + 63) / 64),
        waits_(2 * blueprint.cables.size() * layers_ * words_),
        onward_(static_cast<std::size_t>(blueprint.nodes()) * words_) {}

  /// Follows the packets from all GPUs to one; returns what is wrong if some can not arrive.
  std::optional<std::string> add_packets_to(NodeId to) {
    queue_.clear();
    seen_.assign(static_cast<std::size_t>(blueprint_.nodes()), false);
    for (NodeId gpu = 0; gpu < blueprint_.gpus; ++gpu) {
      seen_[static_cast<std::size_t>(gpu)] = true;
      if (gpu != to) queue_.push_back(gpu);
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const NodeId node = queue_[i];
      const Hop& hop = routes_.hop(node, to);
      if (hop.count == 0) return fmt::format("no way from {} to {}", name(node), name(to));
      for (LinkId link : routes_.candidates(hop)) {
        const NodeId next = link_target(blueprint_, link);
        if (next == to) continue;
        const auto bit = static_cast<std::uint32_t>(to);
        waits_[channel(link, hop.layer) * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
        const auto passed = seen_[static_cast<std::size_t>(next)];
        if (!passed) queue_.push_back(next);
        seen_[static_cast<std::size_t>(next)] = true;
      }
    }
    return std::nullopt;
  }

  sim::Status find_circle(const sim::GoOn& go_on) {
    note_onward();
    const auto cycle = find_cycle<Visit>(
        2 * blueprint_.cables.size() * layers_, [this](Visit& visit) { return next_of(visit); }, go_on);
    if (!cycle) return sim::fail_as(cycle);
    if (cycle->empty()) return {};
    std::string text;
    for (const Channel c : *cycle) text += describe(c) + ", ";
    return sim::fail("routing can deadlock: " + text + "and again " + describe(cycle->front()),
                     "fabric.topology");
  }

 private:
  /// How far the search has come with one channel: which destination, which of the links towards it.
  struct Visit {
    Channel node;
    std::uint32_t to = 0;
    std::uint32_t candidate = 0;
  };

  Channel channel(LinkId link, int layer) const {
    return static_cast<Channel>(link * layers_ + static_cast<std::size_t>(layer));
  }
  LinkId link_of(Channel c) const { return static_cast<LinkId>(c / layers_); }

  /// Links into GPUs that pass nothing on end every wait; to leave them out makes large switches cheap.
  void note_onward() {
    const auto is_waited_in = [&](Channel c) {
      const auto row = waits_.begin() + static_cast<std::ptrdiff_t>(c * words_);
      return std::any_of(row, row + static_cast<std::ptrdiff_t>(words_),
                         [](std::uint64_t w) { return w != 0; });
    };
    std::vector<bool> waited_in(2 * blueprint_.cables.size() * layers_);
    for (std::size_t c = 0; c < waited_in.size(); ++c) waited_in[c] = is_waited_in(static_cast<Channel>(c));
    for (NodeId node = 0; node < blueprint_.nodes(); ++node) {
      for (NodeId to = 0; to < blueprint_.gpus; ++to) {
        const Hop& hop = routes_.hop(node, to);
        for (LinkId link : routes_.candidates(hop)) {
          if (!waited_in[channel(link, hop.layer)]) continue;
          const auto bit = static_cast<std::uint32_t>(to);
          onward_[static_cast<std::size_t>(node) * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
          break;
        }
      }
    }
  }

  /// The next channel that a packet in this one may wait for.
  std::optional<Channel> next_of(Visit& visit) const {
    const NodeId node = link_target(blueprint_, link_of(visit.node));
    for (;; ++visit.to, visit.candidate = 0) {
      if (visit.candidate == 0 && !skip_to_destination(visit, node)) return std::nullopt;
      const Hop& hop = routes_.hop(node, static_cast<NodeId>(visit.to));
      if (visit.candidate < hop.count) {
        return channel(routes_.candidates(hop)[visit.candidate++], hop.layer);
      }
    }
  }

  /// Moves on to the first destination, from visit.to on, whose packets wait in this channel
  /// for one in which packets wait in turn.
  bool skip_to_destination(Visit& visit, NodeId node) const {
    const std::uint64_t* waits = waits_.data() + visit.node * words_;
    const std::uint64_t* onward = onward_.data() + static_cast<std::size_t>(node) * words_;
    std::size_t word = visit.to / 64;
    if (word >= words_) return false;
    std::uint64_t bits = waits[word] & onward[word] & (~std::uint64_t{0} << (visit.to % 64));
    while (bits == 0) {
      if (++word == words_) return false;
      bits = waits[word] & onward[word];
    }
    visit.to = static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
    return true;
  }

  std::string name(NodeId node) const { return node_name(node, blueprint_.gpus); }
  std::string describe(Channel c) const {
    const LinkId link = link_of(c);
    return fmt::format("{}->{} (layer {})", name(link_source(blueprint_, link)),
                       name(link_target(blueprint_, link)), c % layers_);
  }
  const Blueprint& blueprint_;
  const Routes& routes_;
  std::size_t layers_;
  std::size_t words_;  ///< of one row of waits_
  std::vector<std::uint64_t>
      waits_;  ///< a row of bits a channel: its packets for that GPU need a further link
  std::vector<std::uint64_t>
      onward_;  ///< a row of bits a node: packets for that GPU go on into such a channel
  std::vector<NodeId> queue_;
  std::vector<bool> seen_;
};

}  // namespace

sim::Status prove_no_deadlock(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on) {
  DependencyGraph graph(blueprint, routes);
  for (NodeId to = 0; to < blueprint.gpus; ++to) {
    if (sim::asked_to_stop(go_on)) return sim::interrupted();
    if (auto wrong = graph.add_packets_to(to)) return sim::fail(std::move(*wrong), "fabric.topology");
  }
  return graph.find_circle(go_on);
}

}  // namespace infold::net
