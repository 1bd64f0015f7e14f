// Node by node, in an order in which they can run: in that order they stand in their streams.
#include "formats/trace/graph_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "formats/trace/trace_groups.h"
#include "formats/trace/trace_order.h"
#include "formats/workload/workload_fields.h"
#include "work/check.h"

namespace infold::formats {

namespace {

using Kind = TraceNode::Kind;
using work::OpId;

constexpr std::size_t kMostSeats = std::size_t{1} << 26;  // communicators x ranks

bool is_collective(Kind kind) {
  return kind == Kind::kCollective || kind == Kind::kGatherTo || kind == Kind::kScatterFrom;
}
bool is_message(Kind kind) {
  return kind == Kind::kSend || kind == Kind::kReceive || kind == Kind::kGatherTo ||
         kind == Kind::kScatterFrom;
}
bool communicates(const TraceNode& node) {
  return is_collective(node.kind) || is_message(node.kind);
}

/// The number of collectives of each group so far, and what each has of each rank.
struct MeetingKey {
  work::CommunicatorId communicator;
  int first;  // member
  int number;
  auto operator<=>(const MeetingKey&) const = default;
};

class GraphBuilder {
 public:
  GraphBuilder(const std::vector<RankTrace>& traces, TraceWorld world, TraceCommunicators groups,
               sim::DataType type, bool receives_early, Notes& notes)
      : traces_(traces),
        world_(std::move(world)),
        groups_(std::move(groups)),
        element_(sim::size_of(type).count()),
        receives_early_(receives_early),
        notes_(notes) {}

  sim::Result<work::Graph> run() {
    const bool any_messages = std::ranges::any_of(traces_, [](const RankTrace& t) {
      return std::ranges::any_of(t.nodes, [](const TraceNode& n) { return is_message(n.kind); });
    });
    const bool ordered = std::ranges::all_of(traces_, &RankTrace::ordered);
    std::vector<std::vector<int>> orders;
    if (!ordered) orders = order_of_nodes(world_, groups_);
    measure_meetings(orders);
    std::map<int, int> script_of_trace;
    graph_.script_of.resize(static_cast<std::size_t>(world_.ranks()));
    for (int r = 0; r < world_.ranks(); ++r) {
      const int trace = world_.trace_of[static_cast<std::size_t>(r)];
      int& script = graph_.script_of[static_cast<std::size_t>(r)];
      const auto known = script_of_trace.find(trace);
      if (!any_messages && known != script_of_trace.end()) {
        script = known->second;
        continue;
      }
      script = static_cast<int>(graph_.scripts.size());
      script_of_trace.emplace(trace, script);
      write_script(r, orders.empty() ? nullptr : &orders[static_cast<std::size_t>(r)]);
      if (graph_.operations.size() > kMostOperations)
        return sim::fail(fmt::format("it would have more than {} operations", kMostOperations));
      if (groups_.all().size() * static_cast<std::size_t>(world_.ranks()) > kMostSeats)
        return sim::fail("its ranks exchange messages in too many pairs");
    }
    graph_.communicators = groups_.all();
    if (rounded_ > 0)
      notes_.assumed.push_back(
          fmt::format("{} vectors are longer by some bytes, so that shares are whole elements", rounded_));
    if (evened_ > 0)
      notes_.assumed.push_back(fmt::format(
          "{} collectives have shares of different sizes; all get as many bytes as the largest", evened_));
    return std::move(graph_);
  }

 private:
  /// The place of a rank's operations while its script is written.
  struct Writing {
    int rank = 0;
    work::Script script;
    std::map<std::pair<work::Stream::Kind, std::string>, std::size_t> streams;
    std::vector<std::vector<OpId>> done;  // by node: the operations that have ended when it has
    std::map<std::string, std::vector<OpId>> last_on_lane;
    std::map<OpId, std::size_t> stream_of;
    std::map<work::CommunicatorId, int> met;
  };

  const std::vector<TraceNode>& nodes(int rank) const { return world_.trace(rank).nodes; }
  sim::Bytes vector_of(int rank, const TraceNode& node) const {
    const auto members = static_cast<std::int64_t>(groups_.members(rank, node.group).size());
    return node.is_share ? node.bytes * members : node.bytes;
  }

  /// The bytes of each collective, the largest that any of its members says.
  void measure_meetings(const std::vector<std::vector<int>>& orders) {
    for (int r = 0; r < world_.ranks(); ++r) {
      std::map<work::CommunicatorId, int> met;
      const auto& all = nodes(r);
      for (std::size_t i = 0; i < all.size(); ++i) {
        const TraceNode& n =
            orders.empty() ? all[i] : all[static_cast<std::size_t>(orders[static_cast<std::size_t>(r)][i])];
        if (n.kind != Kind::kCollective) continue;
        const work::CommunicatorId c = groups_.of_group(r, n.group);
        if (c < 0 || !coll::has_shares(n.collective)) {
          ++met[c];
          continue;
        }
        const auto [at, is_new] =
            bytes_of_.try_emplace({c, groups_.members(r, n.group).front(), met[c]++}, vector_of(r, n));
        if (!is_new && at->second != vector_of(r, n)) ++evened_;
        at->second = sim::max(at->second, vector_of(r, n));
      }
    }
  }

  void write_script(int rank, const std::vector<int>* order) {
    Writing w{.rank = rank,
              .script = {},
              .streams = {},
              .done = {},
              .last_on_lane = {},
              .stream_of = {},
              .met = {}};
    w.done.resize(nodes(rank).size());
    for (std::size_t i = 0; i < nodes(rank).size(); ++i)
      write_node(w, order == nullptr ? i : static_cast<std::size_t>((*order)[i]));
    graph_.scripts.push_back(std::move(w.script));
  }

  std::size_t stream(Writing& w, work::Stream::Kind kind, const std::string& name,
                     work::CommunicatorId c = -1) {
    const auto [at, is_new] = w.streams.try_emplace({kind, name}, w.script.streams.size());
    if (is_new) w.script.streams.push_back({.name = name, .kind = kind, .communicator = c, .ops = {}});
    return at->second;
  }

  /// What a node waits for; an earlier operation of its own stream need not be named.
  std::vector<OpId> waits(const Writing& w, const TraceNode& node, std::size_t stream) const {
    std::set<OpId> all;
    const auto add = [&](const std::vector<OpId>& ops) {
      for (const OpId op : ops) {
        if (w.stream_of.at(op) != stream) all.insert(op);
      }
    };
    for (const int before : node.after) add(w.done[static_cast<std::size_t>(before)]);
    if (const auto last = w.last_on_lane.find(node.lane); last != w.last_on_lane.end() && !node.lane.empty())
      add(last->second);
    return {all.begin(), all.end()};
  }

  OpId put(Writing& w, std::size_t stream, work::Operation op) {
    const OpId id = graph_.add(w.script.streams[stream], std::move(op));
    w.stream_of.emplace(id, stream);
    return id;
  }

  void write_node(Writing& w, std::size_t number) {
    const TraceNode& node = nodes(w.rank)[number];
    std::vector<OpId>& done = w.done[number];
    switch (node.kind) {
      case Kind::kKernel: {
        const std::size_t s =
            stream(w, work::Stream::Kind::kCompute, node.lane.empty() ? "compute" : node.lane);
        done = {put(w, s, {.what = kernel(node), .name = node.name, .after = waits(w, node, s)})};
        break;
      }
      case Kind::kCopyEngine:
      case Kind::kHost: {
        const std::string lane = node.lane.empty() ? "host" : node.lane;
        const std::size_t s = stream(w, work::Stream::Kind::kHost,
                                     node.kind == Kind::kHost ? lane : fmt::format("{} (copies)", lane));
        done = {put(w, s, {.what = work::Delay{node.time}, .name = node.name, .after = waits(w, node, s)})};
        break;
      }
      case Kind::kCollective:
        collective(w, node, done);
        break;
      case Kind::kGatherTo:
      case Kind::kScatterFrom:
        shares(w, node, done);
        break;
      case Kind::kSend:
      case Kind::kReceive: {
        const int peer = world_.seen_by(w.rank, node.peer);
        const bool sends = node.kind == Kind::kSend;
        message(w, node, sends ? w.rank : peer, sends ? peer : w.rank, node.bytes, done);
        break;
      }
      case Kind::kNothing:
        nothing(w, node, done);
        break;
    }
    if (!node.lane.empty()) w.last_on_lane[node.lane] = done;
  }

  /// Ends when all has ended that the node waits for.
  void nothing(const Writing& w, const TraceNode& node, std::vector<OpId>& done) const {
    constexpr std::size_t kNoStream = SIZE_MAX;
    done = waits(w, node, kNoStream);
  }

  decltype(work::Operation::what) kernel(const TraceNode& node) {
    if (!node.product) {
      return work::Timed{
          .time = node.time, .sms = node.sms, .workgroups = node.workgroups, .bytes = node.bytes};
    }
    const TraceProduct& p = *node.product;
    const auto tensor = [&](std::int64_t rows, std::int64_t cols, int bytes) {
      return graph_.add(work::TensorSpec{.role = work::TensorSpec::Role::kPassing,
                                         .rows = rows * p.groups,
                                         .cols = cols,
                                         .element_bytes = bytes});
    };
    const int bytes = p.precision == gpu::Precision::kFp8                                            ? 1
                      : p.precision == gpu::Precision::kFp16 || p.precision == gpu::Precision::kBf16 ? 2
                                                                                                     : 4;
    work::MatMul m{.left = tensor(p.m, p.k, bytes), .right = tensor(p.k, p.n, bytes), .right_by_k = true};
    m.out = tensor(p.m, p.n, bytes == 1 ? 2 : bytes);
    m.groups = static_cast<int>(p.groups);
    return work::Kernel{.what = m, .precision = p.precision};
  }

  work::BufferId buffer(work::CommunicatorId c, sim::Bytes bytes) {
    const auto [at, is_new] =
        buffers_.try_emplace({c, bytes.count()}, static_cast<int>(graph_.buffers.size()));
    if (is_new) graph_.buffers.push_back({.bytes = bytes});
    return at->second;
  }
  sim::Bytes whole(sim::Bytes bytes, std::int64_t grain) {
    const std::int64_t n = std::max<std::int64_t>((bytes.count() + grain - 1) / grain, 1) * grain;
    if (n != bytes.count()) ++rounded_;
    return sim::Bytes{n};
  }

  void collective(Writing& w, const TraceNode& node, std::vector<OpId>& done) {
    const work::CommunicatorId c = groups_.of_group(w.rank, node.group);
    const int number = w.met[c]++;
    if (c < 0) return nothing(w, node, done);
    const std::vector<int>& members = groups_.members(w.rank, node.group);
    sim::Bytes bytes = vector_of(w.rank, node);
    if (coll::has_shares(node.collective)) bytes = bytes_of_.at({c, members.front(), number});
    const auto n = static_cast<std::int64_t>(members.size());
    if (node.collective == coll::Collective::kBarrier) {
      bytes = {};
    } else {
      bytes = whole(bytes, coll::has_shares(node.collective) ? n * element_ : element_);
    }
    const std::size_t s =
        stream(w, work::Stream::Kind::kCommunication, groups_.all()[static_cast<std::size_t>(c)].name, c);
    work::Collective what{.communicator = c, .what = node.collective, .buffer = buffer(c, bytes)};
    if (coll::has_root(node.collective)) {
      const auto root = std::ranges::find(members, world_.seen_by(w.rank, node.root));
      what.root = root == members.end() ? 0 : static_cast<int>(root - members.begin());
    }
    done = {put(w, s, {.what = what, .name = node.name, .after = waits(w, node, s)})};
  }

  /// A root gets a share from every other member, or sends one to each, all at the same time.
  void shares(Writing& w, const TraceNode& node, std::vector<OpId>& done) {
    if (groups_.of_group(w.rank, node.group) < 0) return nothing(w, node, done);
    const std::vector<int> members = groups_.members(w.rank, node.group);
    int root = world_.seen_by(w.rank, node.root);
    if (std::ranges::find(members, root) == members.end()) root = members.front();
    const sim::Bytes share = vector_of(w.rank, node) / static_cast<std::int64_t>(members.size());
    for (const int other : members) {
      if (other == root || (w.rank != root && w.rank != other)) continue;
      const bool to_root = node.kind == Kind::kGatherTo;
      message(w, node, to_root ? other : root, to_root ? root : other, share, done);
    }
  }

  void message(Writing& w, const TraceNode& node, int from, int to, sim::Bytes bytes,
               std::vector<OpId>& done) {
    if (from == to) return nothing(w, node, done);
    const work::CommunicatorId c = groups_.from_to(from, to, node.tag);
    const std::size_t s =
        stream(w, work::Stream::Kind::kCommunication, groups_.all()[static_cast<std::size_t>(c)].name, c);
    const bool early = receives_early_ && w.rank == to;
    const std::vector<OpId> before = waits(w, node, s);
    const work::Transfer what{.communicator = c, .buffer = buffer(c, whole(bytes, element_)), .from = 0};
    const OpId op =
        put(w, s, {.what = what, .name = node.name, .after = early ? std::vector<OpId>{} : before});
    done.push_back(op);
    if (early) done.insert(done.end(), before.begin(), before.end());
  }

  const std::vector<RankTrace>& traces_;
  TraceWorld world_;
  TraceCommunicators groups_;
  std::int64_t element_;
  bool receives_early_;
  Notes& notes_;
  work::Graph graph_;
  std::map<MeetingKey, sim::Bytes> bytes_of_;
  std::map<std::pair<int, std::int64_t>, work::BufferId> buffers_;
  int rounded_ = 0;
  int evened_ = 0;
};

/// How many ranks there are, from what traces say.
sim::Result<int> count_ranks(const std::vector<RankTrace>& traces, int asked, Notes& notes) {
  int world = 0;
  bool communicates_at_all = false;
  bool said = false;
  for (const RankTrace& t : traces) {
    world = std::max({world, t.world, t.rank + 1});
    said = said || t.world > 0;
    for (const TraceGroup& g : t.groups) {
      for (const int r : g.ranks) world = std::max(world, r + 1);
      said = said || !g.ranks.empty();
    }
    for (const TraceNode& n : t.nodes) {
      communicates_at_all = communicates_at_all || communicates(n);
      if (n.kind == Kind::kSend || n.kind == Kind::kReceive) {
        world = std::max(world, n.peer + 1);
        said = true;
      }
    }
  }
  if (world > kMostTraceRanks)
    return sim::fail(fmt::format("it is of {} ranks, more than {}", world, kMostTraceRanks));
  if (!said && traces.size() == 1 && communicates_at_all) {
    world = std::max({world, asked, 2});
    notes.assumed.push_back(fmt::format("{} ranks: the trace does not say how many there are", world));
  }
  return world;
}

/// With messages, a trace stands for other ranks only if what it sends is what they receive.
sim::Status check_missing(const TraceWorld& world, std::size_t traces) {
  if (static_cast<std::size_t>(world.ranks()) == traces) return {};
  for (const RankTrace& t : *world.traces) {
    std::map<int, int> distances;
    for (const TraceNode& n : t.nodes) {
      if (n.kind == Kind::kGatherTo || n.kind == Kind::kScatterFrom)
        return sim::fail(
            fmt::format("{} of one rank is not what others do: give the traces of all {} ranks "
                        "(there are {})",
                        n.kind == Kind::kGatherTo ? "gather" : "scatter", world.ranks(), traces));
      const int ranks = world.ranks();
      const int away = ((n.peer - t.rank) % ranks + ranks) % ranks;
      if (n.kind == Kind::kSend) ++distances[away];
      if (n.kind == Kind::kReceive) --distances[(ranks - away) % ranks];
    }
    const bool even = std::ranges::all_of(distances, [](const auto& d) { return d.second == 0; });
    if (!even) {
      return sim::fail(
          fmt::format("rank {} sends to ranks that do something else: give the traces of all {} "
                      "ranks (there are {})",
                      t.rank, world.ranks(), traces));
    }
  }
  return {};
}

sim::DataType type_of(const std::vector<RankTrace>& traces) {
  for (const RankTrace& t : traces) {
    if (t.type) return *t.type;
  }
  return sim::DataType::kFp32;
}

}  // namespace

sim::Result<study::Workload> build_workload(std::string name, const std::vector<RankTrace>& traces, int ranks,
                                            Notes& notes) {
  auto count = count_ranks(traces, ranks, notes);
  if (!count) return sim::fail_as(std::move(count));
  TraceWorld world{.traces = &traces, .trace_of = std::vector<int>(static_cast<std::size_t>(*count), -1)};
  for (std::size_t t = 0; t < traces.size(); ++t) {
    int& place = world.trace_of[static_cast<std::size_t>(traces[t].rank)];
    if (place >= 0)
      return sim::fail(fmt::format("{} and {} are both of rank {}",
                                   traces[static_cast<std::size_t>(place)].file, traces[t].file,
                                   traces[t].rank));
    place = static_cast<int>(t);
  }
  std::vector<int> given;
  for (const int t : world.trace_of) {
    if (t >= 0) given.push_back(t);
  }
  for (std::size_t r = 0; r < world.trace_of.size(); ++r) {
    if (world.trace_of[r] < 0) world.trace_of[r] = given[r % given.size()];
  }
  if (given.size() < world.trace_of.size()) {
    notes.assumed.push_back(
        fmt::format("{} of {} ranks have no trace; they do the same as those that have one",
                    world.trace_of.size() - given.size(), world.trace_of.size()));
  }
  if (auto ok = check_missing(world, given.size()); !ok) return sim::fail_as(std::move(ok));
  auto groups = TraceCommunicators::make(world);
  if (!groups) return sim::fail_as(std::move(groups));

  study::Workload out{.name = std::move(name), .type = type_of(traces)};
  const Notes before = notes;
  for (const bool early : {false, true}) {
    notes = before;
    auto graph = GraphBuilder(traces, world, *groups, out.type, early, notes).run();
    if (!graph) return sim::fail_as(std::move(graph));
    out.graph = std::move(*graph);
    auto checked = work::check(out.graph);
    if (checked) {
      if (early) {
        notes.assumed.emplace_back(
            "memory for messages is there from the beginning: a rank that sends does not wait until the "
            "other "
            "has come to receive");
      }
      break;
    }
    const bool messages = std::ranges::any_of(out.graph.operations, [](const work::Operation& op) {
      return std::holds_alternative<work::Transfer>(op.what);
    });
    if (early || !messages || checked.error().kind != sim::Error::Kind::kDeadlock)
      return sim::fail_as(std::move(checked));
  }
  for (const RankTrace& t : traces) {
    if (t.measured && (!out.measured || t.measured->step > out.measured->step)) out.measured = t.measured;
  }
  return out;
}

}  // namespace infold::formats
