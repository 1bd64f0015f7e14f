// Runs the nodes on paper: kernels take their time on their lane, messages none.
#include "formats/trace/trace_order.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace infold::formats {

namespace {

using Kind = TraceNode::Kind;

class PaperRun {
 public:
  PaperRun(const TraceWorld& world, const TraceCommunicators& groups) : world_(world), groups_(groups) {
    for (const RankTrace& trace : *world.traces) {
      dependents_.emplace_back(trace.nodes.size());
      for (std::size_t n = 0; n < trace.nodes.size(); ++n) {
        for (const int before : trace.nodes[n].after)
          dependents_.back()[static_cast<std::size_t>(before)].push_back(static_cast<int>(n));
      }
    }
    for (int r = 0; r < world.ranks(); ++r) {
      const auto& nodes = world.trace(r).nodes;
      ranks_.push_back({std::vector<int>(nodes.size()),
                        std::vector<double>(nodes.size()),
                        std::vector<bool>(nodes.size()),
                        std::vector<bool>(nodes.size()),
                        {},
                        {}});
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        ranks_.back().pending[n] = static_cast<int>(nodes[n].after.size());
        if (nodes[n].after.empty()) queue_.emplace(0, r, static_cast<int>(n));
      }
    }
  }

  std::vector<std::vector<int>> run() {
    for (;;) {
      while (!queue_.empty()) {
        const auto [at, rank, node] = queue_.top();
        queue_.pop();
        begin(rank, node, at);
      }
      if (!end_one_that_waits()) break;
    }
    std::vector<std::vector<int>> all;
    for (PaperRank& r : ranks_) {
      for (std::size_t n = 0; n < r.taken.size(); ++n) {
        if (!r.taken[n]) r.order.push_back(static_cast<int>(n));
      }
      all.push_back(std::move(r.order));
    }
    return all;
  }

 private:
  struct PaperRank {
    std::vector<int> pending;
    std::vector<double> ready;  // by node
    std::vector<bool> taken;
    std::vector<bool> ended;
    std::map<std::string, double> lanes;  // when each is free
    std::vector<int> order;
  };
  struct Waiting {
    int rank;
    int node;
  };
  struct Mailbox {
    std::vector<double> sent;  // when, in order
    std::vector<Waiting> waiting;
    std::size_t received = 0;
  };

  const TraceNode& node(int rank, int n) const {
    return world_.trace(rank).nodes[static_cast<std::size_t>(n)];
  }

  /// What waits for other ranks in vain ends, so that nodes behind it get their places.
  bool end_one_that_waits() {
    for (; waits_from_ < ranks_.size(); ++waits_from_) {
      PaperRank& r = ranks_[waits_from_];
      for (const int n : r.order) {
        if (r.ended[static_cast<std::size_t>(n)]) continue;
        end(static_cast<int>(waits_from_), n, r.ready[static_cast<std::size_t>(n)]);
        return true;
      }
    }
    return false;
  }

  void begin(int rank, int n, double at) {
    PaperRank& r = ranks_[static_cast<std::size_t>(rank)];
    const TraceNode& what = node(rank, n);
    r.order.push_back(n);
    r.taken[static_cast<std::size_t>(n)] = true;
    switch (what.kind) {
      case Kind::kKernel:
      case Kind::kCopyEngine:
      case Kind::kHost: {
        double& free = r.lanes[what.lane];
        free = std::max(free, at) + what.time.in_us();
        return end(rank, n, free);
      }
      case Kind::kCollective:
      case Kind::kGatherTo:
      case Kind::kScatterFrom:
        return meet(rank, n, at);
      case Kind::kSend: {
        Mailbox& box = mail_[{rank, world_.seen_by(rank, what.peer), what.tag}];
        box.sent.push_back(at);
        end(rank, n, at);
        return deliver(box);
      }
      case Kind::kReceive: {
        Mailbox& box = mail_[{world_.seen_by(rank, what.peer), rank, what.tag}];
        box.waiting.push_back({rank, n});
        return deliver(box);
      }
      case Kind::kNothing:
        return end(rank, n, at);
    }
  }

  void meet(int rank, int n, double at) {
    const int group = node(rank, n).group;
    const work::CommunicatorId c = groups_.of_group(rank, group);
    if (c < 0) return end(rank, n, at);
    const std::vector<int>& members = groups_.members(rank, group);
    const int number = met_[{rank, c}]++;
    auto& meeting = meetings_[{c, members.front(), number}];
    meeting.push_back({rank, n});
    if (meeting.size() < members.size()) return;
    for (const Waiting& w : meeting) end(w.rank, w.node, at);
    meetings_.erase({c, members.front(), number});
  }

  void deliver(Mailbox& box) {
    while (box.received < box.sent.size() && box.received < box.waiting.size()) {
      const Waiting w = box.waiting[box.received];
      end(w.rank, w.node, box.sent[box.received++]);
    }
  }

  void end(int rank, int n, double at) {
    PaperRank& r = ranks_[static_cast<std::size_t>(rank)];
    if (r.ended[static_cast<std::size_t>(n)]) return;
    r.ended[static_cast<std::size_t>(n)] = true;
    const auto trace = static_cast<std::size_t>(world_.trace_of[static_cast<std::size_t>(rank)]);
    for (const int next : dependents_[trace][static_cast<std::size_t>(n)]) {
      double& ready = r.ready[static_cast<std::size_t>(next)];
      ready = std::max(ready, at);
      if (--r.pending[static_cast<std::size_t>(next)] == 0) queue_.emplace(ready, rank, next);
    }
  }

  using Entry = std::tuple<double, int, int>;
  const TraceWorld& world_;
  const TraceCommunicators& groups_;
  std::vector<std::vector<std::vector<int>>> dependents_;  // by trace and node
  std::vector<PaperRank> ranks_;
  std::size_t waits_from_ = 0;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue_;
  std::map<std::pair<int, int>, int> met_;
  std::map<std::tuple<int, int, int>, std::vector<Waiting>> meetings_;
  std::map<std::tuple<int, int, std::int64_t>, Mailbox> mail_;
};

}  // namespace

std::vector<std::vector<int>> order_of_nodes(const TraceWorld& world, const TraceCommunicators& groups) {
  return PaperRun(world, groups).run();
}

}  // namespace infold::formats
