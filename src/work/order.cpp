// Runs a graph without time: every operation that can end ends, and those that are left wait in a circle.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "work/check.h"
#include "work/communications.h"

namespace infold::work {

namespace {

class DryRun {
 public:
  explicit DryRun(const Graph& graph) : graph_(graph) {
    for (int r = 0; r < graph.ranks(); ++r) {
      ranks_.emplace_back();
      ranks_.back().ended.resize(graph.operations.size());
      ranks_.back().entered.resize(graph.operations.size());
      ranks_.back().next.resize(graph.script(r).streams.size());
    }
    for (int r = graph.ranks(); r-- > 0;) queue_.push_back(r);
  }

  sim::Result<std::vector<Turn>> run() {
    while (!queue_.empty() && why_.empty()) {
      const int rank = queue_.back();
      queue_.pop_back();
      while (advance(rank)) {
      }
    }
    if (!why_.empty()) return sim::fail(why_);
    auto lines = who_waits();
    if (lines.empty()) return std::move(order_);
    sim::Error error{.message = "operations wait for each other, so that none can begin",
                     .kind = sim::Error::Kind::kDeadlock};
    error.details = std::move(lines);
    return sim::fail(std::move(error));
  }

 private:
  struct Rank {
    std::vector<bool> ended;    // by operation
    std::vector<bool> entered;  // by operation: communication that waits for other ranks
    std::vector<std::size_t> next;
    std::map<CommunicatorId, int> met;  // collectives so far
  };
  struct Meeting {
    std::vector<Turn> turns;
  };

  bool ended(int rank, OpId op) const {
    return ranks_[static_cast<std::size_t>(rank)].ended[static_cast<std::size_t>(op)];
  }
  bool may_begin(int rank, OpId op) const {
    const auto over = [&](OpId before) { return ended(rank, before); };
    if (!std::ranges::all_of(graph_[op].after, over)) return false;
    const auto* g = std::get_if<Gather>(&graph_[op].what);
    return g == nullptr || std::ranges::all_of(g->parts, [&](const auto& p) { return ended(rank, p.when); });
  }

  /// Goes over a rank's streams once. Returns whether anything ended or was entered.
  bool advance(int rank) {
    bool any = false;
    Rank& r = ranks_[static_cast<std::size_t>(rank)];
    const auto& streams = graph_.script(rank).streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      const std::vector<OpId>& ops = streams[s].ops;
      if (streams[s].kind == Stream::Kind::kBeside) {
        for (const OpId op : ops) {
          if (!ended(rank, op) && may_begin(rank, op)) any = enter(rank, op) || any;
        }
        continue;
      }
      for (; r.next[s] < ops.size(); ++r.next[s]) {
        const OpId op = ops[r.next[s]];
        if (ended(rank, op)) continue;
        if (r.entered[static_cast<std::size_t>(op)] || !may_begin(rank, op)) break;
        any = true;
        if (!enter(rank, op)) break;
      }
    }
    return any;
  }

  /// Begins an operation. Returns whether it has ended at once.
  bool enter(int rank, OpId op) {
    Rank& r = ranks_[static_cast<std::size_t>(rank)];
    const CommunicatorId c = communicator_of(graph_[op]);
    if (c < 0) {
      end({rank, op});
      return true;
    }
    r.entered[static_cast<std::size_t>(op)] = true;
    const auto& groups = graph_.communicators[static_cast<std::size_t>(c)].groups;
    const auto group =
        std::ranges::find_if(groups, [&](const auto& g) { return std::ranges::find(g, rank) != g.end(); });
    const bool gathers = std::holds_alternative<Gather>(graph_[op].what);
    const int number = gathers ? -1 - op : r.met[c]++;
    Meeting& m = meetings_[{c, static_cast<int>(group - groups.begin()), number}];
    if (!m.turns.empty() && !same(m.turns.front().op, op)) {
      why_ = fmt::format("{} of rank {} meets {} of rank {} on communicator {}", label(graph_, op), rank,
                         label(graph_, m.turns.front().op), m.turns.front().rank,
                         graph_.communicators[static_cast<std::size_t>(c)].name);
      return false;
    }
    m.turns.push_back({rank, op});
    if (m.turns.size() < group->size()) return false;
    for (const Turn& t : m.turns) {
      end(t);
      if (t.rank != rank) queue_.push_back(t.rank);
    }
    return true;
  }

  void end(const Turn& t) {
    ranks_[static_cast<std::size_t>(t.rank)].ended[static_cast<std::size_t>(t.op)] = true;
    order_.push_back(t);
  }

  /// Whether two operations are the same collective.
  bool same(OpId a, OpId b) const {
    if (a == b) return true;
    const Operation& x = graph_[a];
    const Operation& y = graph_[b];
    if (x.what.index() != y.what.index() || std::holds_alternative<Gather>(x.what)) return false;
    if (graph_.buffers[static_cast<std::size_t>(buffer_of(x))].bytes !=
        graph_.buffers[static_cast<std::size_t>(buffer_of(y))].bytes)
      return false;
    if (const auto* c = std::get_if<Collective>(&x.what)) {
      const auto& d = std::get<Collective>(y.what);
      return c->what == d.what && c->root == d.root;
    }
    return std::get<Transfer>(x.what).from == std::get<Transfer>(y.what).from;
  }

  std::vector<std::string> who_waits() const {
    std::vector<std::string> lines;
    for (int rank = 0; rank < graph_.ranks(); ++rank) {
      const Rank& r = ranks_[static_cast<std::size_t>(rank)];
      for (const Stream& stream : graph_.script(rank).streams) {
        const auto op = std::ranges::find_if(stream.ops, [&](OpId o) { return !ended(rank, o); });
        if (op == stream.ops.end()) continue;
        std::string line = fmt::format("rank {} {}: {} waits for", rank, stream.name, label(graph_, *op));
        if (r.entered[static_cast<std::size_t>(*op)]) line += " other ranks";
        std::string comma = " ";
        const auto add = [&](OpId before) {
          if (ended(rank, before)) return;
          line += comma + label(graph_, before);
          comma = ", ";
        };
        for (const OpId before : graph_[*op].after) add(before);
        if (const auto* g = std::get_if<Gather>(&graph_[*op].what)) {
          for (const Gather::Part& p : g->parts) add(p.when);
        }
        lines.push_back(std::move(line));
      }
    }
    return lines;
  }

  const Graph& graph_;
  std::vector<Rank> ranks_;
  std::vector<int> queue_;  // ranks that may be able to go on
  std::map<std::tuple<CommunicatorId, int, int>, Meeting> meetings_;
  std::vector<Turn> order_;
  std::string why_;
};

}  // namespace

sim::Result<std::vector<Turn>> order_of(const Graph& graph) {
  return DryRun(graph).run();
}

}  // namespace infold::work
