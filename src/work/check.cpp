// Numbers in range, operations in streams that can run them, and an order.
#include "work/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "work/communications.h"

namespace infold::work {

namespace {

template <class T>
bool among(int i, const std::vector<T>& all) {
  return i >= 0 && static_cast<std::size_t>(i) < all.size();
}

sim::Status check_operation(const Graph& graph, OpId op) {
  const Operation& o = graph[op];
  const auto wrong = [&](const char* what) {
    return sim::fail(fmt::format("{} names {} that there is not", label(graph, op), what));
  };
  for (const OpId before : o.after) {
    if (!among(before, graph.operations)) return wrong("an operation");
  }
  const CommunicatorId c = communicator_of(o);
  if (c >= 0 && !among(c, graph.communicators)) return wrong("a communicator");
  if (const auto* copy = std::get_if<Copy>(&o.what)) {
    if (!among(copy->tensor, graph.tensors)) return wrong("a tensor");
    if (!among(copy->buffer, graph.buffers)) return wrong("a buffer");
  } else if (const auto* kernel = std::get_if<Kernel>(&o.what)) {
    const Touched t = touched(kernel->what);
    const auto known = [&](TensorId id) { return among(id, graph.tensors); };
    if (!std::ranges::all_of(t.reads, known) || !std::ranges::all_of(t.writes, known))
      return wrong("a tensor");
  } else if (const auto* g = std::get_if<Gather>(&o.what)) {
    for (const Gather::Part& p : g->parts) {
      if (!among(p.when, graph.operations)) return wrong("an operation");
    }
    if (graph.scripts.size() > 1) return sim::fail("ranks that gather what is ready share one script");
  } else if (c >= 0) {
    if (!among(buffer_of(o), graph.buffers)) return wrong("a buffer");
    const Buffer& b = graph.buffers[static_cast<std::size_t>(buffer_of(o))];
    const auto known = [&](TensorId id) { return id == -1 || among(id, graph.tensors); };
    if (!known(b.input) || !known(b.output)) return wrong("a tensor");
  }
  return {};
}

bool suits(const Operation& op, const Stream& stream) {
  const CommunicatorId c = communicator_of(op);
  switch (stream.kind) {
    case Stream::Kind::kCompute:
      return c < 0;
    case Stream::Kind::kBeside:
      return std::holds_alternative<Copy>(op.what);
    case Stream::Kind::kCommunication:
      return is_marker(op) || (c == stream.communicator && !std::holds_alternative<Gather>(op.what));
    case Stream::Kind::kHost:
      return is_marker(op) || std::holds_alternative<Delay>(op.what) ||
             std::holds_alternative<Gather>(op.what);
  }
  return false;
}

/// Checks the streams of a script that `ranks` run.
sim::Status check_script(const Graph& graph, const Script& script, const std::vector<int>& ranks) {
  std::vector<bool> here(graph.operations.size());
  for (const Stream& stream : script.streams) {
    OpId before = -1;
    for (const OpId op : stream.ops) {
      if (!among(op, graph.operations))
        return sim::fail(fmt::format("stream {} has no operation {}", stream.name, op));
      if (here[static_cast<std::size_t>(op)])
        return sim::fail(fmt::format("{} stands in a script twice", label(graph, op)));
      here[static_cast<std::size_t>(op)] = true;
      if (!suits(graph[op], stream))
        return sim::fail(fmt::format("{} cannot run in stream {}", label(graph, op), stream.name));
      if (stream.kind != Stream::Kind::kCommunication || communicator_of(graph[op]) < 0) continue;
      // Memory is given in the order of the list, and ranks meet in the order of memory.
      if (op < before) return sim::fail(fmt::format("{} stands before its turn", label(graph, op)));
      before = op;
    }
  }
  for (const Stream& stream : script.streams) {
    for (const OpId op : stream.ops) {
      for (const OpId b : graph[op].after) {
        if (!here[static_cast<std::size_t>(b)])
          return sim::fail(
              fmt::format("{} waits for {}, which its rank does not run", label(graph, op), label(graph, b)));
      }
      const CommunicatorId c = communicator_of(graph[op]);
      if (c < 0) continue;
      for (const int rank : ranks) {
        const auto& groups = graph.communicators[static_cast<std::size_t>(c)].groups;
        if (std::ranges::none_of(groups,
                                 [&](const auto& g) { return std::ranges::find(g, rank) != g.end(); }))
          return sim::fail(fmt::format("rank {} is no member of communicator {}", rank,
                                       graph.communicators[static_cast<std::size_t>(c)].name));
      }
    }
  }
  return {};
}

}  // namespace

sim::Status check(const Graph& graph) {
  if (graph.script_of.empty()) return sim::fail("a graph has at least one rank");
  std::vector<std::vector<int>> ranks(graph.scripts.size());
  for (int r = 0; r < graph.ranks(); ++r) {
    const int script = graph.script_of[static_cast<std::size_t>(r)];
    if (!among(script, graph.scripts)) return sim::fail(fmt::format("rank {} has no script", r));
    ranks[static_cast<std::size_t>(script)].push_back(r);
  }
  for (OpId op = 0; op < static_cast<OpId>(graph.operations.size()); ++op) {
    if (auto ok = check_operation(graph, op); !ok) return ok;
  }
  for (std::size_t s = 0; s < graph.scripts.size(); ++s) {
    if (auto ok = check_script(graph, graph.scripts[s], ranks[s]); !ok) return ok;
  }
  if (auto order = order_of(graph); !order) return sim::fail_as(std::move(order));
  return {};
}

}  // namespace infold::work
