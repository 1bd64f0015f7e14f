// A gradient is a count of contributions for each rank. Every place (a gradient's own memory or a buffer)
// remembers who wrote it and who has read it since; an access must come after those by what waits for what.
#include "work/symbolic_step.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string_view>
#include <tuple>

#include "work/check.h"
#include "work/communications.h"

namespace infold::work {

namespace {

/// Which operations of all ranks come before which, whatever the timing.
class Before {
 public:
  explicit Before(std::size_t nodes) : words_((nodes + 63) / 64), bits_(nodes * words_) {}
  /// All that is before `first`, and `first` itself, is before `then`.
  void add(std::size_t first, std::size_t then) {
    for (std::size_t w = 0; w < words_; ++w) bits_[then * words_ + w] |= bits_[first * words_ + w];
    bits_[then * words_ + first / 64] |= std::uint64_t{1} << (first % 64);
  }
  /// All that is before either is before both.
  void join(std::size_t a, std::size_t b) {
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t both = bits_[a * words_ + w] | bits_[b * words_ + w];
      bits_[a * words_ + w] = bits_[b * words_ + w] = both;
    }
  }
  bool operator()(std::size_t first, std::size_t then) const {
    return ((bits_[then * words_ + first / 64] >> (first % 64)) & 1) != 0;
  }

 private:
  std::size_t words_;
  std::vector<std::uint64_t> bits_;
};

using Value = std::vector<int>;  // contributions by rank; empty: nothing

class SymbolicStep {
 public:
  SymbolicStep(const Graph& graph, int parameters)
      : graph_(graph),
        parameters_(parameters),
        before_(static_cast<std::size_t>(graph.ranks()) * graph.operations.size()) {}

  sim::Status run() {
    auto order = order_of(graph_);
    if (!order) return sim::fail_as(std::move(order));
    find_copies();
    find_waits(*order);
    // What meets ends together, and stands together in the order.
    for (std::size_t i = 0; i < order->size();) {
      std::size_t end = i + 1;
      const bool meets = communicator_of(graph_[(*order)[i].op]) >= 0;
      while (meets && end < order->size() && (*order)[end].op == (*order)[i].op) ++end;
      meet(std::span(*order).subspan(i, end - i));
      if (!why_.empty()) return sim::fail(why_);
      i = end;
    }
    for (int r = 0; r < graph_.ranks(); ++r) {
      for (int p = 0; p < parameters_; ++p) {
        if (const int n = updated_[{r, p}]; n != 1)
          return sim::fail(fmt::format("rank {} updates parameter {} {} times", r, p, n));
      }
    }
    return {};
  }

 private:
  struct Place {
    Value value;
    std::size_t writer = 0;
    bool written = false;
    std::vector<std::size_t> readers = {};
  };

  std::size_t node(const Turn& t) const {
    return static_cast<std::size_t>(t.rank) * graph_.operations.size() + static_cast<std::size_t>(t.op);
  }

  /// Which gradients are copied into which buffers: others are reduced where they are.
  void find_copies() {
    for (const Stream& s : graph_.scripts.front().streams) {
      for (const OpId op : s.ops) {
        if (const auto* c = std::get_if<Copy>(&graph_[op].what)) {
          for (const int p : graph_[op].gradients) copied_.insert({c->buffer, p});
        }
      }
    }
  }

  void find_waits(const std::vector<Turn>& order) {
    std::vector<OpId> previous(graph_.operations.size(), -1);
    for (const Stream& s : graph_.scripts.front().streams) {
      if (s.kind == Stream::Kind::kBeside) continue;
      for (std::size_t i = 1; i < s.ops.size(); ++i)
        previous[static_cast<std::size_t>(s.ops[i])] = s.ops[i - 1];
    }
    for (std::size_t i = 0; i < order.size();) {
      std::size_t end = i;
      do {
        const Turn t = order[end++];
        const Operation& o = graph_[t.op];
        if (const OpId b = previous[static_cast<std::size_t>(t.op)]; b >= 0)
          before_.add(node({t.rank, b}), node(t));
        for (const OpId b : o.after) before_.add(node({t.rank, b}), node(t));
        if (const auto* g = std::get_if<Gather>(&o.what)) {
          for (const Gather::Part& p : g->parts) before_.add(node({t.rank, p.when}), node(t));
        }
      } while (end < order.size() && order[end].op == order[i].op &&
               communicator_of(graph_[order[i].op]) >= 0);
      for (std::size_t a = i + 1; a < end; ++a) before_.join(node(order[i]), node(order[a]));
      for (std::size_t a = i + 1; a < end; ++a) before_.join(node(order[i]), node(order[a]));
      i = end;
    }
  }

  void complain(const Turn& t, std::string_view what) {
    if (why_.empty()) why_ = fmt::format("{} of rank {} {}", label(graph_, t.op), t.rank, what);
  }

  /// Where gradient p lies for a collective, or with buffer -1 its own memory.
  Place& place(int rank, int p, BufferId buffer) { return places_[{rank, p, buffer}]; }

  const Value& read(const Turn& t, Place& from, int p) {
    if (!from.written || from.value.empty())
      complain(t, fmt::format("reads gradient {}, which is not there", p));
    if (from.written && !before_(from.writer, node(t)))
      complain(t, fmt::format("reads gradient {} while it may still be written", p));
    from.readers.push_back(node(t));
    return from.value;
  }

  void write(const Turn& t, Place& to, int p, Value value) {
    const auto earlier = [&](std::size_t other) { return other == node(t) || before_(other, node(t)); };
    if ((to.written && !earlier(to.writer)) || !std::ranges::all_of(to.readers, earlier))
      complain(t, fmt::format("writes gradient {} while others may still use it", p));
    to = {.value = std::move(value), .writer = node(t), .written = true};
  }

  /// One operation of a rank, or of all that meet in it.
  void meet(std::span<const Turn> turns) {
    const Operation& o = graph_[turns.front().op];
    if (const auto* c = std::get_if<Collective>(&o.what)) {
      if (c->what != coll::Collective::kAllReduce) complain(turns.front(), "is no all-reduce");
      reduce(turns, c->buffer);
    } else if (std::holds_alternative<Gather>(o.what)) {
      reduce(turns, -1);
    } else if (communicator_of(o) >= 0) {
      complain(turns.front(), "is no all-reduce");
    } else {
      run_alone(turns.front());
    }
  }

  void reduce(std::span<const Turn> turns, BufferId buffer) {
    for (const int p : graph_[turns.front().op].gradients) {
      const BufferId where = copied_.contains({buffer, p}) ? buffer : -1;
      Value sum(static_cast<std::size_t>(graph_.ranks()));
      for (const Turn& t : turns) {
        const Value& part = read(t, place(t.rank, p, where), p);
        for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
      }
      for (const Turn& t : turns) write(t, place(t.rank, p, where), p, sum);
    }
  }

  void run_alone(const Turn& t) {
    const Operation& o = graph_[t.op];
    if (const auto* k = std::get_if<Kernel>(&o.what)) check_tensors(t, *k);
    const auto* copy = std::get_if<Copy>(&o.what);
    for (const int p : o.gradients) {
      if (copy != nullptr) {
        const Value moved = read(t, place(t.rank, p, copy->back ? copy->buffer : -1), p);
        write(t, place(t.rank, p, copy->back ? -1 : copy->buffer), p, moved);
      } else if (!o.updates) {
        Value own(static_cast<std::size_t>(graph_.ranks()));
        own[static_cast<std::size_t>(t.rank)] = 1;
        write(t, place(t.rank, p, -1), p, std::move(own));
      } else {
        const Value& sum = read(t, place(t.rank, p, -1), p);
        if (!std::ranges::all_of(sum, [](int n) { return n == 1; }))
          complain(
              t, fmt::format("updates parameter {} from something else than every rank's gradient once", p));
        ++updated_[{t.rank, p}];
      }
    }
  }

  /// What a kernel reads was written before, if it is written in the step at all.
  void check_tensors(const Turn& t, const Kernel& k) {
    if (writers_.empty()) find_writers();
    const Touched touched = work::touched(k.what);
    for (const TensorId id : touched.reads) {
      if (graph_.tensors[static_cast<std::size_t>(id)].role != TensorSpec::Role::kPassing) continue;
      const std::vector<OpId>& by = writers_[static_cast<std::size_t>(id)];
      const auto earlier = [&](OpId w) { return w == t.op || before_(node({t.rank, w}), node(t)); };
      if (!by.empty() && std::ranges::none_of(by, earlier))
        complain(t, fmt::format("reads tensor {} before it is written", id));
    }
  }

  void find_writers() {
    writers_.resize(graph_.tensors.size());
    for (const Stream& s : graph_.scripts.front().streams) {
      for (const OpId op : s.ops) {
        const auto* k = std::get_if<Kernel>(&graph_[op].what);
        if (k == nullptr) continue;
        for (const TensorId id : work::touched(k->what).writes)
          writers_[static_cast<std::size_t>(id)].push_back(op);
      }
    }
  }

  const Graph& graph_;
  int parameters_;
  Before before_;
  std::set<std::pair<BufferId, int>> copied_;
  std::map<std::tuple<int, int, BufferId>, Place> places_;  // rank, gradient, buffer
  std::map<std::pair<int, int>, int> updated_;              // rank, parameter: how often
  std::vector<std::vector<OpId>> writers_;                  // by tensor
  std::string why_;
};

}  // namespace

sim::Status check_step(const Graph& graph, int parameters) {
  if (graph.scripts.size() != 1) return sim::fail("the checker of steps knows one script");
  return SymbolicStep(graph, parameters).run();
}

}  // namespace infold::work
