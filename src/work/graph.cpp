// Names of operations, and graphs without communication.
#include "work/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "sim/check.h"
#include "work/communications.h"

namespace infold::work {

std::string label(const Graph& graph, OpId op) {
  constexpr std::array kKinds = {"kernel", "copy",   "collective", "transfer",
                                 "delay",  "marker", "kernel",     "gathering of gradients"};
  const Operation& o = graph[op];
  return o.name.empty() ? fmt::format("{} {}", kKinds[o.what.index()], op) : o.name;
}

CommunicatorId communicator_of(const Operation& op) {
  if (const auto* c = std::get_if<Collective>(&op.what)) return c->communicator;
  if (const auto* t = std::get_if<Transfer>(&op.what)) return t->communicator;
  if (const auto* g = std::get_if<Gather>(&op.what)) return g->communicator;
  return -1;
}

BufferId buffer_of(const Operation& op) {
  if (const auto* c = std::get_if<Collective>(&op.what)) return c->buffer;
  return std::get<Transfer>(op.what).buffer;
}

const std::vector<int>& some_group_of(const Graph& graph, CommunicatorId communicator, int rank) {
  const auto& groups = graph.communicators[static_cast<std::size_t>(communicator)].groups;
  const auto group = std::ranges::find_if(
      groups, [&](const std::vector<int>& g) { return std::ranges::find(g, rank) != g.end(); });
  return group == groups.end() ? groups.front() : *group;
}

const std::vector<int>& group_of(const Graph& graph, CommunicatorId communicator, int rank) {
  const std::vector<int>& group = some_group_of(graph, communicator, rank);
  INFOLD_CHECK(std::ranges::find(group, rank) != group.end(), "a rank communicates where it is a member");
  return group;
}

bool is_marker(const Operation& op) {
  return std::holds_alternative<Marker>(op.what);
}

Copy whole_bucket(Graph& graph, BufferId buffer) {
  constexpr int kElement = 2;
  constexpr std::int64_t kCols = 64;
  const std::int64_t bytes = graph.buffers[static_cast<std::size_t>(buffer)].bytes.count();
  const std::int64_t rows = (bytes + kCols * kElement - 1) / (kCols * kElement);
  const TensorId tensor = graph.add(
      TensorSpec{.role = TensorSpec::Role::kPart, .rows = rows, .cols = kCols, .element_bytes = kElement});
  return {
      .tensor = tensor, .buffer = buffer, .offset = {}, .ops_per_element = 0.5, .for_communication = true};
}

Graph without_communication(Graph graph) {
  std::vector<bool> gone(graph.operations.size());
  const auto is_gone = [&](OpId op) { return bool{gone[static_cast<std::size_t>(op)]}; };
  for (std::size_t i = 0; i < gone.size(); ++i) gone[i] = communicator_of(graph.operations[i]) >= 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const auto* copy = std::get_if<Copy>(&graph.operations[i].what);
    if (copy == nullptr) continue;
    gone[i] = copy->for_communication || std::ranges::any_of(graph.operations[i].after, is_gone);
  }
  std::vector<bool> waited_for(gone.size());
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    std::erase_if(graph.operations[i].after, is_gone);
    for (const OpId before : graph.operations[i].after) waited_for[static_cast<std::size_t>(before)] = true;
  }
  for (std::size_t i = 0; i < gone.size(); ++i) {
    const Operation& op = graph.operations[i];
    if (is_marker(op) && op.name.empty() && !waited_for[i]) gone[i] = true;
  }
  for (Script& script : graph.scripts) {
    for (Stream& stream : script.streams) {
      std::ranges::copy_if(stream.ops, std::back_inserter(script.idle), is_gone);
      std::erase_if(stream.ops, is_gone);
    }
  }
  return graph;
}

}  // namespace infold::work
