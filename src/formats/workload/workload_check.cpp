// Sizes of kernels and members of communicators, operation by operation.
#include <fmt/format.h>

#include <algorithm>

#include "coll/program/collective.h"
#include "formats/workload/workload_reader.h"

namespace infold::formats {

namespace {

constexpr std::int64_t kLargestSide = std::int64_t{1} << 26;
constexpr std::int64_t kMostElements = std::int64_t{1} << 40;
constexpr int kWidestNumber = 8;

bool side(std::int64_t n) {
  return n >= 1 && n <= kLargestSide;
}

std::string flaw_of(const work::Graph& graph, const work::MatMul& m) {
  const auto& t = graph.tensors;
  const auto& left = t[static_cast<std::size_t>(m.left)];
  const auto& right = t[static_cast<std::size_t>(m.right)];
  const auto& out = t[static_cast<std::size_t>(m.out)];
  if (m.groups < 1 || m.groups > left.rows || m.groups > right.rows)
    return fmt::format("a product of {} groups", m.groups);
  const work::ProductSize s = work::size_of(t, m);
  const std::int64_t other_k = m.right_by_k ? right.rows / m.groups : right.cols;
  if (s.k != other_k) return fmt::format("its operands have different k: {} and {}", s.k, other_k);
  if (out.rows / m.groups != s.m || out.cols != s.n)
    return fmt::format("its result is {} x {}, and its tensor {} x {}", s.m * m.groups, s.n, out.rows,
                       out.cols);
  return {};
}

std::string flaw_of(const work::Graph& /*graph*/, const work::Convolve& c) {
  if (!side(c.height) || !side(c.width) || !side(c.channels) || !side(c.filters) || !side(c.size) ||
      !side(c.stride) || c.pad < 0 || c.pad >= c.size + 1)
    return "a size of its convolution is out of range";
  if (c.height + 2 * c.pad < c.size || c.width + 2 * c.pad < c.size)
    return "its filter is larger than its image";
  return {};
}

std::string flaw_of(const work::Graph& /*graph*/, const work::Attend& a) {
  if (!side(a.sequence) || !side(a.heads) || !side(a.head_size) || a.kv_heads < 0 || a.value_size < 0 ||
      a.keys < 0 || a.keys > kLargestSide || a.value_size > kLargestSide)
    return "a size of its attention is out of range";
  if (a.kv_heads > 0 && a.heads % a.kv_heads != 0)
    return fmt::format("{} heads cannot share {} heads of keys", a.heads, a.kv_heads);
  if (a.keys > 0 && a.keys < a.sequence) return "it has fewer keys than queries";
  return {};
}

std::string flaw_of(const work::Graph& /*graph*/, const work::Streaming& s) {
  if (s.passes.empty()) return "it has no passes";
  for (const auto& pass : s.passes) {
    if (pass.reads.empty() && pass.writes.empty()) return "one of its passes touches nothing";
  }
  return {};
}

bool is_tensor(const work::Graph& graph, int id) {
  return id >= 0 && static_cast<std::size_t>(id) < graph.tensors.size();
}
bool is_buffer(const work::Graph& graph, int id) {
  return id >= 0 && static_cast<std::size_t>(id) < graph.buffers.size();
}

std::string flaw_of(const work::Graph& graph, const work::Operation& op) {
  if (const auto* kernel = std::get_if<work::Kernel>(&op.what)) {
    if (!side(kernel->batch)) return "its batch is out of range";
    const work::Touched t = work::touched(kernel->what);
    const auto known = [&](int id) { return is_tensor(graph, id); };
    if (!std::ranges::all_of(t.reads, known) || !std::ranges::all_of(t.writes, known))
      return "it names a tensor that there is not";
    return std::visit([&](const auto& k) { return flaw_of(graph, k); }, kernel->what);
  }
  const auto members_of = [&](int c) -> std::string {
    if (c < 0 || static_cast<std::size_t>(c) >= graph.communicators.size())
      return "it names a communicator that there is not";
    return {};
  };
  if (const auto* t = std::get_if<work::Transfer>(&op.what)) {
    if (auto why = members_of(t->communicator); !why.empty()) return why;
    if (!is_buffer(graph, t->buffer)) return "it names a buffer that there is not";
    if (t->from < 0 || t->from > 1) return "one of two members sends: 'from' is 0 or 1";
    for (const auto& g : graph.communicators[static_cast<std::size_t>(t->communicator)].groups) {
      if (g.size() != 2) return "a transfer is between the two members of a group";
    }
  }
  if (const auto* c = std::get_if<work::Collective>(&op.what)) {
    if (auto why = members_of(c->communicator); !why.empty()) return why;
    if (!is_buffer(graph, c->buffer)) return "it names a buffer that there is not";
    if (c->what == coll::Collective::kSend) return "what one rank sends to another is a transfer";
    for (const auto& g : graph.communicators[static_cast<std::size_t>(c->communicator)].groups) {
      if (g.size() < 2) return "a collective needs two members or more";
      if (c->root < 0 || c->root >= std::ssize(g)) return "its root is no member of its group";
    }
  }
  if (const auto* g = std::get_if<work::Gather>(&op.what)) {
    if (auto why = members_of(g->communicator); !why.empty()) return why;
    for (const work::Script& script : graph.scripts) {
      if (g->copies < 0 || static_cast<std::size_t>(g->copies) >= script.streams.size() ||
          script.streams[static_cast<std::size_t>(g->copies)].kind != work::Stream::Kind::kBeside)
        return "its copies are no stream of kind beside";
    }
    if (g->cycle < sim::Time::us(1) || g->most < sim::Bytes{1}) return "its cycle or its size is nothing";
    if (g->parts.size() > 100'000) return "it has too many parts";
  }
  if (const auto* t = std::get_if<work::Timed>(&op.what)) {
    if (t->sms < 0 || t->workgroups < 0) return "it has fewer SMs or workgroups than none";
    if (t->workgroups > 1'000'000) return "it has more than 1000000 workgroups of an SM each";
  }
  return {};
}

std::string flaw_of(const work::Graph& graph, const work::Communicator& c) {
  std::vector<bool> member(static_cast<std::size_t>(graph.ranks()));
  for (const auto& group : c.groups) {
    if (group.empty()) return "a group has no members";
    for (const int rank : group) {
      if (rank < 0 || rank >= graph.ranks()) return fmt::format("there is no rank {}", rank);
      if (member[static_cast<std::size_t>(rank)]) return fmt::format("rank {} is a member twice", rank);
      member[static_cast<std::size_t>(rank)] = true;
    }
  }
  return {};
}

}  // namespace

std::optional<WorkloadFlaw> find_workload_flaw(const work::Graph& graph) {
  if (graph.script_of.empty()) return WorkloadFlaw{-1, "a workload has at least one rank"};
  if (graph.ranks() > kMostTraceRanks)
    return WorkloadFlaw{-1, fmt::format("it has more than {} ranks", kMostTraceRanks)};
  if (graph.operations.size() * graph.scripts.size() > kMostOperations * 64)
    return WorkloadFlaw{-1, "it has too many operations for so many scripts"};
  for (std::size_t i = 0; i < graph.tensors.size(); ++i) {
    const work::TensorSpec& t = graph.tensors[i];
    if (!side(t.rows) || t.cols < 1 || t.cols > kMostElements / t.rows || t.element_bytes < 1 ||
        t.element_bytes > kWidestNumber)
      return WorkloadFlaw{-1, fmt::format("tensor {}: a size is out of range", i)};
  }
  for (std::size_t i = 0; i < graph.buffers.size(); ++i) {
    const work::Buffer& b = graph.buffers[i];
    const bool place =
        (b.input == -1 || is_tensor(graph, b.input)) && (b.output == -1 || is_tensor(graph, b.output));
    if (b.bytes > sim::Bytes::gib(1024) || b.element_bytes < 0 || b.element_bytes > kWidestNumber || !place)
      return WorkloadFlaw{-1, fmt::format("buffer {}: its size or its tensor is out of range", i)};
  }
  for (const work::Communicator& c : graph.communicators) {
    if (auto why = flaw_of(graph, c); !why.empty())
      return WorkloadFlaw{-1, fmt::format("communicator {}: {}", c.name, why)};
  }
  for (work::OpId op = 0; op < static_cast<work::OpId>(graph.operations.size()); ++op) {
    if (auto why = flaw_of(graph, graph[op]); !why.empty())
      return WorkloadFlaw{op, fmt::format("{}: {}", work::label(graph, op), why)};
  }
  const auto known = [&](work::OpId op) {
    return op >= 0 && static_cast<std::size_t>(op) < graph.operations.size();
  };
  for (const work::Script& s : graph.scripts) {
    if (!std::ranges::all_of(s.idle, known)) return WorkloadFlaw{-1, "an idle operation that there is not"};
  }
  return std::nullopt;
}

}  // namespace infold::formats
