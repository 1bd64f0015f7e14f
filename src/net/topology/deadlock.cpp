// Proof that a fabric cannot block itself: follows every packet that can occur, notes which channel (a link
// and a layer) it holds while it waits for which next one, and looks for a circle among them (Dally and
// Seitz). Twins (net/topology/twins.h) are followed as one destination: their packets differ in the last link
// only, and packets in that link wait for nothing.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "net/topology/adjacency.h"
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
    return find_circle();
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

  /// Depth first with a stack of its own: a path may be as long as there are channels.
  sim::Status find_circle() {
    enum class Colour : std::uint8_t { kNew, kOnPath, kDone };
    std::vector<Colour> colour(channels(), Colour::kNew);
    std::vector<Visit> path;
    for (std::size_t start = 0; start < channels(); ++start) {
      if (colour[start] != Colour::kNew) continue;
      path.push_back({static_cast<Channel>(start)});
      colour[start] = Colour::kOnPath;
      while (!path.empty()) {
        const std::optional<Channel> next = next_of(path.back());
        if (patience_.ended_after(1 + std::exchange(steps_, 0))) return sim::interrupted();
        if (!next) {
          colour[path.back().channel] = Colour::kDone;
          path.pop_back();
        } else if (colour[*next] == Colour::kOnPath) {
          return sim::fail("routing can deadlock: " + describe(path, *next), "fabric.topology");
        } else if (colour[*next] == Colour::kNew) {
          colour[*next] = Colour::kOnPath;
          path.push_back({*next});
        }
      }
    }
    return {};
  }

  /// Links that packets for some groups of twins may take out of a node.
  struct Exit {
    Hop hop;
    std::uint32_t groups_begin;  ///< in exit_groups_
    std::uint32_t groups_end;
  };

  /// How far the search has come with one channel: which of its node's exits, which link of that.
  struct Visit {
    Channel channel;
    std::uint32_t exit = 0;
    std::uint32_t candidate = 0;
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
      waited_in[c] = std::any_of(row, row + static_cast<std::ptrdiff_t>(words_),
                                 [](std::uint64_t w) { return w != 0; });
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

  /// The next channel that a packet in this one may wait for.
  std::optional<Channel> next_of(Visit& visit) {
    const std::size_t node = index_of(link_target(blueprint_, link_of(visit.channel)));
    for (;; ++visit.exit, visit.candidate = 0) {
      const std::uint32_t at = first_exit_[node] + visit.exit;
      if (at >= first_exit_[node + 1]) return std::nullopt;
      const Exit& exit = exits_[at];
      if (visit.candidate == 0 && !leaves_by(visit.channel, exit)) continue;
      if (visit.candidate < exit.hop.count)
        return channel(routes_.candidates(exit.hop)[visit.candidate++], exit.hop.layer);
    }
  }

  /// Whether packets that wait in the channel go on by the exit.
  bool leaves_by(Channel c, const Exit& exit) {
    for (std::uint32_t i = exit.groups_begin; i < exit.groups_end; ++i) {
      ++steps_;
      if (waits(c, exit_groups_[i])) return true;
    }
    return false;
  }

  std::string name(NodeId node) const {
    return blueprint_.is_gpu(node) ? fmt::format("gpu{}", node)
                                   : fmt::format("switch{}", node - blueprint_.gpus);
  }
  std::string describe(Channel c) const {
    const LinkId link = link_of(c);
    return fmt::format("{}->{} (layer {})", name(link_source(blueprint_, link)),
                       name(link_target(blueprint_, link)), c % layers_);
  }
  std::string describe(const std::vector<Visit>& path, Channel closes_at) const {
    auto at = std::find_if(path.begin(), path.end(), [&](const Visit& v) { return v.channel == closes_at; });
    std::string text;
    for (; at != path.end(); ++at) text += describe(at->channel) + ", ";
    return text + "and again " + describe(closes_at);
  }

  const Blueprint& blueprint_;
  const Routes& routes_;
  sim::Patience patience_;
  std::size_t layers_;
  std::size_t words_;                 // of one row of waits_
  std::vector<std::uint64_t> waits_;  // a row of bits per channel: its packets for that group need a further link
  std::vector<Exit> exits_;           // node after node
  std::vector<std::uint32_t> first_exit_;  // by node, and one behind the last
  std::vector<std::uint32_t> exit_groups_;
  std::int64_t steps_ = 0;  // of the search, since it was asked last
  std::vector<NodeId> queue_;
  std::vector<bool> seen_;
};

}  // namespace

sim::Status prove_no_deadlock(const Blueprint& blueprint, const Routes& routes, const sim::GoOn& go_on) {
  return DependencyGraph(blueprint, routes, go_on).prove();
}

}  // namespace infold::net
