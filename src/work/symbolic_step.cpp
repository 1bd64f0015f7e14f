// A gradient is a count of contributions by rank and pass, and weights are a version; both are whole or a
// shard. Every place in which they lie remembers which operation wrote it and which ones have read it since.
// The graph must say that an access comes after those. Gradients are moved, never copied: each is in one
// place at a time.
#include "work/symbolic_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>

#include "work/communications.h"
#include "work/symbolic_tensors.h"

namespace infold::work {

namespace {

using Value = std::vector<int>;  // contributions by rank and pass, or a version; empty: nothing

struct Shard {
  int index = 0;
  int of = 1;
  bool operator==(const Shard&) const = default;
  bool whole() const { return of == 1; }
};

/// Where a gradient or a weight may lie on a rank.
enum class Where : std::uint8_t {
  kOwn,           // the place where kernels leave the gradient of a pass
  kKept,          // the place of the gradient that is reduced and added up over passes
  kInBuffer,      // the gradient in a buffer
  kHome,          // the weights that the rank keeps
  kGathered,      // weights where kernels use them, if others keep a part
  kHomeInBuffer,  // weights in a buffer
};

constexpr int kOld = 0;
constexpr int kNew = 1;

int member_of(const std::vector<std::vector<int>>& groups, int rank, const std::vector<int>** group) {
  for (const std::vector<int>& g : groups) {
    const auto at = std::ranges::find(g, rank);
    if (at == g.end()) continue;
    *group = &g;
    return static_cast<int>(at - g.begin());
  }
  return -1;
}

class SymbolicStep {
 public:
  SymbolicStep(const Graph& graph, const StepRules& rules, const std::vector<Turn>& order)
      : graph_(graph), rules_(rules), order_(order), before_(graph, order), tensors_(graph, rules, before_) {
    for (int p = 0; p < parameters(); ++p) {
      for (const auto& group : rule(p).replicas) {
        for (const int r : group)
          place(r, p, Where::kHome) = {.value = {kOld}, .shard = home_shard(r, p), .initial = true};
      }
    }
  }

  sim::Status run() {
    for (std::size_t i = 0; i < order_.size();) {
      const std::size_t end = i + who_meets(graph_, order_[i]).size();
      meet(std::span(order_).subspan(i, end - i));
      if (!why_.empty()) return sim::fail(why_);
      i = end;
    }
    for (int p = 0; p < parameters(); ++p) {
      for (const auto& group : rule(p).replicas) {
        for (const int r : group) {
          if (const int n = updated_[{r, p}]; n != 1)
            return sim::fail(fmt::format("rank {} updates parameter {} {} times", r, p, n));
          const Place& home = place(r, p, Where::kHome);
          if (home.value != Value{kNew} || home.shard != home_shard(r, p))
            return sim::fail(fmt::format("rank {} ends without the new weights of parameter {}", r, p));
        }
      }
    }
    if (auto wrong = tensors_.left_over(); !wrong.empty()) return sim::fail(std::move(wrong));
    return {};
  }

 private:
  struct Place {
    Value value = {};
    Shard shard = {};
    std::size_t writer = 0;
    bool written = false;
    bool initial = false;  // it is there from before the step
    std::vector<std::size_t> readers = {};
  };

  int parameters() const { return static_cast<int>(rules_.parameters.size()); }
  const ParameterRule& rule(int p) const { return rules_.parameters[static_cast<std::size_t>(p)]; }
  Shard home_shard(int rank, int p) const {
    const std::vector<int>* group = nullptr;
    const int member = member_of(rule(p).shards, rank, &group);
    return group == nullptr ? Shard{} : Shard{member, static_cast<int>(group->size())};
  }
  std::size_t node(const Turn& t) const { return before_.node(t); }

  void complain(const Turn& t, std::string_view what) {
    if (why_.empty() && !what.empty())
      why_ = fmt::format("{} of rank {} {}", label(graph_, t.op), t.rank, what);
  }

  Place& place(int rank, int p, Where where, BufferId buffer = -1) {
    return places_[{rank, p, where, buffer}];
  }

  /// Reads a place whose content stays.
  const Value& read(const Turn& t, Place& from, int p) {
    if (from.value.empty()) complain(t, fmt::format("reads parameter {}, of which nothing is there", p));
    if (from.written && from.writer != node(t) && !before_(from.writer, node(t)))
      complain(t, fmt::format("reads parameter {} while it may still be written", p));
    from.readers.push_back(node(t));
    return from.value;
  }

  void write(const Turn& t, Place& to, int p, Value value, Shard shard) {
    const auto earlier = [&](std::size_t other) { return other == node(t) || before_(other, node(t)); };
    if ((to.written && !earlier(to.writer)) || !std::ranges::all_of(to.readers, earlier))
      complain(t, fmt::format("writes parameter {} while others may still use it", p));
    to = {.value = std::move(value), .shard = shard, .writer = node(t), .written = true};
  }

  /// Takes the content out of a place, which is empty afterwards.
  std::pair<Value, Shard> take(const Turn& t, Place& from, int p) {
    std::pair<Value, Shard> taken = {read(t, from, p), from.shard};
    write(t, from, p, {}, {});
    return taken;
  }

  /// Follows one operation of a rank, or of all ranks that meet in it.
  void meet(std::span<const Turn> turns) {
    const Operation& o = graph_[turns.front().op];
    for (const Turn& t : turns) {
      if (!means_the_same(o, graph_[t.op])) complain(t, "meets " + label(graph_, turns.front().op));
    }
    if (std::holds_alternative<Gather>(o.what)) {
      reduce(turns, {});
    } else if (const auto* c = std::get_if<Collective>(&o.what)) {
      exchange_tensors(turns);
      if (!o.weights.empty()) gather(turns, *c);
      if (!o.gradients.empty()) reduce(turns, *c);
      if (o.gradients.empty() && o.weights.empty() && tensor_of(turns.front(), true) < 0)
        complain(turns.front(), "is about nothing");
    } else if (std::holds_alternative<Transfer>(o.what)) {
      exchange_tensors(turns);
    } else {
      run_alone(turns.front());
    }
    for (const Turn& t : turns) {
      for (const int p : graph_[t.op].frees) take(t, place(t.rank, p, Where::kGathered), p);
    }
  }

  /// Ranks of several scripts have operations of their own for what they do together.
  static bool means_the_same(const Operation& a, const Operation& b) {
    const bool message = std::holds_alternative<Transfer>(a.what);
    return a.pass == b.pass && std::ranges::is_permutation(a.gradients, b.gradients) &&
           std::ranges::is_permutation(a.weights, b.weights) && (!message || buffer_of(a) == buffer_of(b));
  }

  TensorId tensor_of(const Turn& t, bool output) const {
    const Buffer& b = graph_.buffers[static_cast<std::size_t>(buffer_of(graph_[t.op]))];
    return output ? b.output : b.input;
  }

  void exchange_tensors(std::span<const Turn> turns) {
    const auto* collective = std::get_if<Collective>(&graph_[turns.front().op].what);
    const auto sends = [&](std::size_t member) {
      return collective != nullptr ||
             static_cast<int>(member) == std::get<Transfer>(graph_[turns[member].op].what).from;
    };
    const std::vector<int> members = who_meets(graph_, turns.front());
    const auto member = [&](const Turn& t) {
      return static_cast<std::size_t>(std::ranges::find(members, t.rank) - members.begin());
    };
    for (const Turn& t : turns) {
      const TensorId in = tensor_of(t, false);
      const bool in_place =
          collective != nullptr && coll::reduces(collective->what) && in == tensor_of(t, true);
      if (in >= 0 && sends(member(t))) complain(t, tensors_.read(t, in, in_place));
    }
    for (const Turn& t : turns) {
      const TensorId out = tensor_of(t, true);
      if (out >= 0 && (collective != nullptr || !sends(member(t)))) complain(t, tensors_.bring(t, out));
    }
  }

  /// Turns in the order of the group's members.
  std::vector<Turn> by_member(std::span<const Turn> turns) const {
    std::vector<Turn> sorted;
    for (const int rank : who_meets(graph_, turns.front()))
      sorted.push_back(*std::ranges::find(turns, rank, &Turn::rank));
    return sorted;
  }

  void gather(std::span<const Turn> turns, const Collective& c) {
    if (c.what != coll::Collective::kAllGather) complain(turns.front(), "gathers nothing");
    const auto at = [&](const Turn& t, int p, BufferId buffer) -> Place& {
      return buffer < 0 ? place(t.rank, p, Where::kHome) : place(t.rank, p, Where::kHomeInBuffer, buffer);
    };
    for (const int p : graph_[turns.front().op].weights) {
      const std::vector<Turn> members = by_member(turns);
      const auto n = static_cast<int>(members.size());
      Value value;
      for (int i = 0; i < n; ++i) {
        const Turn& t = members[static_cast<std::size_t>(i)];
        Place& from = at(t, p, c.source);
        const Value& part = read(t, from, p);
        if (from.shard != Shard{i, n})
          complain(t, fmt::format("gathers something else than its shard of parameter {}", p));
        if (i > 0 && part != value) complain(t, fmt::format("gathers parameter {} in two versions", p));
        value = part;
      }
      for (const Turn& t : members) write(t, at(t, p, c.target), p, value, {});
    }
  }

  /// The place where a collective finds a gradient. One that was reduced in its place may be reduced further.
  Place& source(const Turn& t, int p, const Collective& c) {
    if (c.source >= 0) return place(t.rank, p, Where::kInBuffer, c.source);
    Place& own = place(t.rank, p, Where::kOwn);
    return own.value.empty() && c.what == coll::Collective::kAllReduce ? place(t.rank, p, Where::kKept) : own;
  }

  void reduce(std::span<const Turn> turns, const Collective& c) {
    const bool scatters = c.what == coll::Collective::kReduceScatter;
    if (!scatters && c.what != coll::Collective::kAllReduce) complain(turns.front(), "reduces nothing");
    for (const int p : graph_[turns.front().op].gradients) {
      const std::vector<Turn> members = by_member(turns);
      Value sum(contributions());
      Shard shard = source(members.front(), p, c).shard;
      for (const Turn& t : members) {
        const auto [part, of] = take(t, source(t, p, c), p);
        if (of != shard || (scatters && !of.whole()))
          complain(t, fmt::format("reduces different shards of parameter {}", p));
        for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
      }
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (scatters) shard = {static_cast<int>(i), static_cast<int>(members.size())};
        const Turn& t = members[i];
        Place& to =
            c.target >= 0 ? place(t.rank, p, Where::kInBuffer, c.target) : place(t.rank, p, Where::kKept);
        if (!to.value.empty()) complain(t, fmt::format("loses a gradient of parameter {}", p));
        write(t, to, p, sum, shard);
      }
    }
  }

  std::size_t contributions() const { return static_cast<std::size_t>(graph_.ranks() * rules_.passes); }

  void run_alone(const Turn& t) {
    const Operation& o = graph_[t.op];
    if (const auto* k = std::get_if<Kernel>(&o.what)) {
      touch(t, *k);
      for (const int p : o.weights) use(t, p);
    }
    if (const auto* copy = std::get_if<Copy>(&o.what)) {
      for (const int p : o.weights) move_weight(t, *copy, p);
      for (const int p : o.gradients) move_gradient(t, *copy, p);
      return;
    }
    for (const int p : o.gradients) o.updates ? update(t, p) : contribute(t, p);
  }

  void touch(const Turn& t, const Kernel& k) {
    const Touched touched = work::touched(k.what);
    for (const TensorId id : touched.reads) complain(t, tensors_.read(t, id));
    for (const TensorId id : touched.writes)
      complain(t, tensors_.write(t, id, std::ranges::find(touched.reads, id) != touched.reads.end()));
  }

  void use(const Turn& t, int p) {
    const bool sharded = !home_shard(t.rank, p).whole();
    Place& from = place(t.rank, p, sharded ? Where::kGathered : Where::kHome);
    if (read(t, from, p) != Value{kOld} || !from.shard.whole())
      complain(t, fmt::format("reads other weights of parameter {} than those of this step", p));
  }

  void move_weight(const Turn& t, const Copy& copy, int p) {
    Place& buffer = place(t.rank, p, Where::kHomeInBuffer, copy.buffer);
    if (copy.back) {
      if (!buffer.shard.whole()) complain(t, fmt::format("copies a shard of parameter {}", p));
      auto [value, shard] = take(t, buffer, p);
      write(t, place(t.rank, p, Where::kGathered), p, std::move(value), shard);
    } else {
      Place& home = place(t.rank, p, Where::kHome);
      write(t, buffer, p, read(t, home, p), home.shard);
    }
  }

  void move_gradient(const Turn& t, const Copy& copy, int p) {
    Place& buffer = place(t.rank, p, Where::kInBuffer, copy.buffer);
    Place& to = copy.back ? place(t.rank, p, Where::kKept) : buffer;
    auto [value, shard] = take(t, copy.back ? buffer : place(t.rank, p, Where::kOwn), p);
    if (!to.value.empty()) {
      if (!copy.adds || to.shard != shard) complain(t, fmt::format("loses a gradient of parameter {}", p));
      const Value& there = read(t, to, p);
      for (std::size_t i = 0; i < std::min(value.size(), there.size()); ++i) value[i] += there[i];
    }
    write(t, to, p, std::move(value), shard);
  }

  /// Follows a kernel that adds to what earlier passes have left.
  void contribute(const Turn& t, int p) {
    Place& own = place(t.rank, p, Where::kOwn);
    Value value = own.value.empty() ? Value(contributions()) : read(t, own, p);
    const auto i = static_cast<std::size_t>(t.rank * rules_.passes + graph_[t.op].pass);
    if (i < value.size()) ++value[i];
    write(t, own, p, std::move(value), {});
  }

  void update(const Turn& t, int p) {
    const std::vector<int>* group = nullptr;
    if (member_of(rule(p).replicas, t.rank, &group) < 0) return;
    Place& kept = place(t.rank, p, Where::kKept);
    Place& from = kept.value.empty() ? place(t.rank, p, Where::kOwn) : kept;
    Value all(contributions());
    for (const int r : *group) {
      for (int pass = 0; pass < rules_.passes; ++pass)
        all[static_cast<std::size_t>(r * rules_.passes + pass)] = 1;
    }
    if (read(t, from, p) != all)
      complain(t, fmt::format("updates parameter {} from something else than every rank's gradient once", p));
    Place& home = place(t.rank, p, Where::kHome);
    if (!home.shard.whole() && home.shard != from.shard)
      complain(t, fmt::format("updates another shard of parameter {} than the rank's", p));
    write(t, home, p, {kNew}, from.shard);
    ++updated_[{t.rank, p}];
  }

  const Graph& graph_;
  const StepRules& rules_;
  const std::vector<Turn>& order_;
  HappensBefore before_;
  SymbolicTensors tensors_;
  std::map<std::tuple<int, int, Where, BufferId>, Place> places_;  // rank, parameter
  std::map<std::pair<int, int>, int> updated_;                     // rank, parameter: how often
  std::string why_;
};

}  // namespace

sim::Status check_step(const Graph& graph, const StepRules& rules) {
  auto order = order_of(graph);
  if (!order) return sim::fail_as(std::move(order));
  return SymbolicStep(graph, rules, *order).run();
}

sim::Status check_step(const Graph& graph, int parameters) {
  std::vector<int> all(static_cast<std::size_t>(graph.ranks()));
  std::iota(all.begin(), all.end(), 0);
  StepRules rules;
  rules.parameters.assign(static_cast<std::size_t>(parameters), {.replicas = {all}});
  return check_step(graph, rules);
}

}  // namespace infold::work
