// Proof that a fabric cannot block itself: follows every packet that can occur, notes which channel (a link
// and a layer) it holds while it waits for which next one, and looks for a circle among them (Dally and
// Seitz). Twins (net/topology/twins.h) are followed as one destination: their packets differ in the last link
// only, and packets in that link wait for nothing.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "net/topology/adjacency.h"
#include "net/topology/cycle.h"
#include "net/topology/routes.h"

namespace infold::net {
namespace {

using Channel = std::uint32_t;

class DependencyGraph {
 public:
  DependencyGraph(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on)
      : blueprint_(blueprint),
        routes_(routes),
        patience_(go_on),
        layers_(static_cast<std::size_t>(routes.layers())),
        words_((static_cast<std::size_t>(routes.twins().gpu_groups()) + 63) / 64),
        waits_(channels() * words_) {}

  sim::Status prove() {
    for (std::uint32_t to = 0; to < routes_.twins().gpu_groups(); ++to) {
      if (auto ok = add_packets_to(to); !ok) return ok;
    }
    if (auto ok = note_exits(); !ok) return ok;
    return check_no_circle();
  }

 private:
  /// Follows the packets from all GPUs to a group of twins; fails if some cannot arrive.
  sim::Status add_packets_to(std::uint32_t group) {
    const auto twins = routes_.twins().members(group);
    queue_.clear();
    seen_.assign(static_cast<std::size_t>(blueprint_.nodes()), false);
    for (NodeId gpu = 0; gpu < blueprint_.gpus; ++gpu) {
      seen_[index_of(gpu)] = true;
      if (gpu != twins.front() || twins.size() > 1) queue_.push_back(gpu);
    }
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const NodeId node = queue_[i];
      const NodeId to = node == twins.front() ? twins[1] : twins.front();
      const Hop hop = routes_.hop(node, to);
      if (hop.count == 0)
        return sim::fail(fmt::format("no way from {} to {}", name(node), name(to)), "fabric.topology");
      if (patience_.ended_after(hop.count)) return sim::interrupted();
      for (LinkId link : routes_.candidates(hop)) {
        const NodeId next = link_target(blueprint_, link);
        if (next == to) continue;
        waits_[channel(link, hop.layer) * words_ + group / 64] |= std::uint64_t{1} << (group % 64);
        if (!seen_[index_of(next)]) queue_.push_back(next);
        seen_[index_of(next)] = true;
      }
    }
    return {};
  }

  sim::Status check_no_circle() {
    const auto cycle = find_cycle(
        channels(), [this](CycleVisit& visit, std::int64_t& steps) { return next_of(visit, steps); },
        patience_);
    if (!cycle) return sim::fail_as(cycle);
    if (cycle->empty()) return {};
    return sim::fail("routing can deadlock: " + describe(*cycle), "fabric.topology");
  }

  /// Links that packets for some groups of twins may take out of a node.
  struct Exit {
    Hop hop;
    std::uint32_t groups_begin;  ///< in exit_groups_
    std::uint32_t groups_end;
  };

  std::size_t channels() const { return 2 * blueprint_.cables.size() * layers_; }
  Channel channel(LinkId link, int layer) const {
    return static_cast<Channel>(link * layers_ + static_cast<std::size_t>(layer));
  }
  LinkId link_of(Channel c) const { return static_cast<LinkId>(c / layers_); }
  bool waits(Channel c, std::uint32_t group) const {
    return (waits_[c * words_ + group / 64] >> (group % 64) & 1) != 0;
  }

  /// Lists the exits of all nodes that packets pass, by the groups that use the same. Links in which nothing
  /// waits, such as those into GPUs that pass nothing on, end every wait and are left out.
  sim::Status note_exits() {
    std::vector<bool> waited_in(channels());
    std::vector<bool> passed(static_cast<std::size_t>(blueprint_.nodes()));
    for (std::size_t c = 0; c < waited_in.size(); ++c) {
      const auto row = waits_.begin() + static_cast<std::ptrdiff_t>(c * words_);
      waited_in[c] =
          std::any_of(row, row + static_cast<std::ptrdiff_t>(words_), [](std::uint64_t w) { return w != 0; });
      if (waited_in[c]) passed[index_of(link_target(blueprint_, link_of(static_cast<Channel>(c))))] = true;
    }
    struct Way {
      Hop hop;
      std::uint32_t group;
      std::pair<std::uint32_t, std::uint8_t> key() const { return {hop.first, hop.layer}; }
    };
    std::vector<Way> ways;
    first_exit_.assign(1, 0);
    for (NodeId node = 0; node < blueprint_.nodes(); ++node) {
      ways.clear();
      for (std::uint32_t to = 0; passed[index_of(node)] && to < routes_.twins().gpu_groups(); ++to) {
        const Hop hop = routes_.hop(node, routes_.twins().members(to).front());
        if (patience_.ended_after(1 + hop.count)) return sim::interrupted();
        const auto links = routes_.candidates(hop);
        if (std::ranges::any_of(links, [&](LinkId l) { return waited_in[channel(l, hop.layer)]; }))
          ways.push_back({hop, to});
      }
      std::ranges::stable_sort(ways, {}, &Way::key);
      for (std::size_t i = 0; i < ways.size(); ++i) {
        if (i == 0 || ways[i].key() != ways[i - 1].key()) {
          const auto at = static_cast<std::uint32_t>(exit_groups_.size());
          exits_.push_back({ways[i].hop, at, at});
        }
        exit_groups_.push_back(ways[i].group);
        ++exits_.back().groups_end;
      }
      first_exit_.push_back(static_cast<std::uint32_t>(exits_.size()));
    }
    return {};
  }

  /// The next channel that a packet in this one may wait for: of each exit of its node (major) each link
  /// (minor).
  std::optional<Channel> next_of(CycleVisit& visit, std::int64_t& steps) const {
    const std::size_t node = index_of(link_target(blueprint_, link_of(visit.vertex)));
    for (;; ++visit.major, visit.minor = 0) {
      const std::uint32_t at = first_exit_[node] + visit.major;
      if (at >= first_exit_[node + 1]) return std::nullopt;
      const Exit& exit = exits_[at];
      if (visit.minor == 0 && !leaves_by(visit.vertex, exit, steps)) continue;
      if (visit.minor < exit.hop.count)
        return channel(routes_.candidates(exit.hop)[visit.minor++], exit.hop.layer);
    }
  }

  /// Whether packets that wait in the channel go on by the exit.
  bool leaves_by(Channel c, const Exit& exit, std::int64_t& steps) const {
    for (std::uint32_t i = exit.groups_begin; i < exit.groups_end; ++i) {
      ++steps;
      if (waits(c, exit_groups_[i])) return true;
    }
    return false;
  }

  std::string name(NodeId node) const { return node_name(node, blueprint_.gpus); }
  std::string describe(Channel c) const {
    const LinkId link = link_of(c);
    return fmt::format("{}->{} (layer {})", name(link_source(blueprint_, link)),
                       name(link_target(blueprint_, link)), c % layers_);
  }
  std::string describe(const std::vector<Channel>& cycle) const {
    std::string text;
    for (const Channel c : cycle) text += describe(c) + ", ";
    return text + "and again " + describe(cycle.front());
  }

  const Blueprint& blueprint_;
  const Routes& routes_;
  sim::Patience patience_;
  std::size_t layers_;
  std::size_t words_;  // of one row of waits_
  std::vector<std::uint64_t>
      waits_;                // a row of bits per channel: its packets for that group need a further link
  std::vector<Exit> exits_;  // node after node
  std::vector<std::uint32_t> first_exit_;  // by node, and one behind the last
  std::vector<std::uint32_t> exit_groups_;
  std::vector<NodeId> queue_;
  std::vector<bool> seen_;
};

}  // namespace

sim::Status prove_no_deadlock(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on) {
  return DependencyGraph(blueprint, routes, go_on).prove();
}

}  // namespace infold::net
