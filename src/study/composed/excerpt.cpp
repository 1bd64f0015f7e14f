// Numbers tensors and buffers in the order of their first use.
#include "study/composed/excerpt.h"

#include <map>
#include <type_traits>

#include "work/communications.h"

namespace infold::study::composed {

namespace {

/// Calls visit(tensor) for every tensor that a kernel names, which may change it.
template <class Visit>
void each_tensor(work::Computation& what, const Visit& visit) {
  std::visit(
      [&](auto& k) {
        using K = std::remove_reference_t<decltype(k)>;
        if constexpr (std::is_same_v<K, work::MatMul>) {
          for (work::TensorId* t : {&k.left, &k.right, &k.out}) visit(*t);
        } else if constexpr (std::is_same_v<K, work::Convolve>) {
          for (work::TensorId* t : {&k.in, &k.out, &k.filter}) visit(*t);
        } else if constexpr (std::is_same_v<K, work::Attend>) {
          for (work::TensorId* t : {&k.query, &k.key, &k.value, &k.out}) visit(*t);
          if (!k.backward) return;
          for (work::TensorId* t : {&k.d_query, &k.d_key, &k.d_value, &k.d_out}) visit(*t);
        } else {
          for (work::Streaming::Pass& p : k.passes) {
            for (work::TensorId& t : p.reads) visit(t);
            for (work::TensorId& t : p.writes) visit(t);
          }
        }
      },
      what);
}

/// The numbers of a kernel that are not tensors.
void add_numbers(ContentKey& key, const work::Computation& what) {
  key.add(static_cast<std::int64_t>(what.index()));
  if (const auto* m = std::get_if<work::MatMul>(&what)) {
    key.add(m->left_by_k);
    key.add(m->right_by_k);
    key.add(m->groups);
  } else if (const auto* c = std::get_if<work::Convolve>(&what)) {
    key.add(c->way);
    for (const std::int64_t n : {c->height, c->width, c->channels, c->filters, c->size, c->stride, c->pad})
      key.add(n);
  } else if (const auto* a = std::get_if<work::Attend>(&what)) {
    key.add(a->backward);
    key.add(a->causal);
    for (const std::int64_t n : {a->sequence, a->heads, a->head_size, a->kv_heads, a->value_size, a->keys})
      key.add(n);
  } else {
    const auto& s = std::get<work::Streaming>(what);
    key.add(static_cast<std::int64_t>(s.passes.size()));
    for (const work::Streaming::Pass& p : s.passes) {
      key.add(static_cast<std::int64_t>(p.reads.size()));
      key.add(static_cast<std::int64_t>(p.writes.size()));
      key.add(p.ops_per_element);
    }
  }
}

void add_tensor(ContentKey& key, const work::TensorSpec& t) {
  key.add(t.rows);
  key.add(t.cols);
  key.add(t.element_bytes);
}

void add_numbers(ContentKey& key, const work::Operation& op) {
  key.add(static_cast<std::int64_t>(op.what.index()));
  if (const auto* k = std::get_if<work::Kernel>(&op.what)) {
    key.add(k->precision);
    key.add(k->batch);
    add_numbers(key, k->what);
  } else if (const auto* c = std::get_if<work::Copy>(&op.what)) {
    key.add(c->back);
    key.add(c->ops_per_element);
    key.add(c->for_communication);
    key.add(c->element_bytes);
    key.add(c->adds);
  } else if (const auto* t = std::get_if<work::Timed>(&op.what)) {
    key.add(t->time);
    key.add(t->sms);
    key.add(t->bytes);
    key.add(t->flops);
  }
}

/// The tensors of an operation with kernels, in the order in which it names them.
std::vector<work::TensorId> tensors_of(const work::Operation& op) {
  std::vector<work::TensorId> all;
  if (const auto* k = std::get_if<work::Kernel>(&op.what)) {
    work::Computation what = k->what;
    each_tensor(what, [&](work::TensorId& t) { all.push_back(t); });
  } else if (const auto* c = std::get_if<work::Copy>(&op.what)) {
    all.push_back(c->tensor);
  }
  return all;
}

/// A kernel that reads and writes the tensors of a communication.
work::Operation stand_in(const work::Graph& graph, const work::Operation& op) {
  const work::Buffer& b = graph.buffers[static_cast<std::size_t>(work::buffer_of(op))];
  work::Streaming s;
  s.passes.push_back({.reads = {b.input}, .writes = {b.output}, .ops_per_element = 0});
  return {.what = work::Kernel{.what = s}};
}

}  // namespace

bool has_kernels(const work::Operation& op) {
  return std::holds_alternative<work::Kernel>(op.what) || std::holds_alternative<work::Copy>(op.what) ||
         std::holds_alternative<work::Timed>(op.what);
}

bool moves_tensors(const work::Graph& graph, const work::Operation& op) {
  if (!std::holds_alternative<work::Collective>(op.what) && !std::holds_alternative<work::Transfer>(op.what))
    return false;
  const work::Buffer& b = graph.buffers[static_cast<std::size_t>(work::buffer_of(op))];
  return b.input >= 0 && b.output >= 0;
}

std::vector<Touch> touches_of(const work::Graph& graph, const work::Operation& op) {
  std::vector<Touch> all;
  const std::vector<work::TensorId> tensors =
      moves_tensors(graph, op) ? tensors_of(stand_in(graph, op)) : tensors_of(op);
  all.reserve(tensors.size());
  for (const work::TensorId t : tensors) {
    all.push_back({.is_buffer = false,
                   .number = t,
                   .offset = 0,
                   .bytes = graph.tensors[static_cast<std::size_t>(t)].bytes()});
  }
  if (const auto* c = std::get_if<work::Copy>(&op.what)) {
    const work::TensorSpec& t = graph.tensors[static_cast<std::size_t>(c->tensor)];
    const int element = c->element_bytes == 0 ? t.element_bytes : c->element_bytes;
    all.push_back({.is_buffer = true,
                   .number = c->buffer,
                   .offset = c->offset.count(),
                   .bytes = t.rows * t.cols * element});
  }
  return all;
}

work::Graph excerpt_of(const work::Graph& graph, std::span<const work::OpId> ops) {
  work::Graph piece;
  piece.scripts.resize(1);
  piece.scripts.front().streams.push_back({.name = "compute"});
  std::map<work::TensorId, work::TensorId> tensors;
  std::map<work::BufferId, work::BufferId> buffers;
  const auto tensor = [&](work::TensorId& t) {
    const auto [at, is_new] = tensors.try_emplace(t, static_cast<work::TensorId>(piece.tensors.size()));
    if (is_new) piece.tensors.push_back(graph.tensors[static_cast<std::size_t>(t)]);
    t = at->second;
  };
  for (const work::OpId op : ops) {
    work::Operation copy = moves_tensors(graph, graph[op]) ? stand_in(graph, graph[op])
                                                           : work::Operation{.what = graph[op].what};
    if (auto* k = std::get_if<work::Kernel>(&copy.what)) each_tensor(k->what, tensor);
    if (auto* c = std::get_if<work::Copy>(&copy.what)) {
      tensor(c->tensor);
      const work::Buffer& whole = graph.buffers[static_cast<std::size_t>(c->buffer)];
      const auto [at, is_new] =
          buffers.try_emplace(c->buffer, static_cast<work::BufferId>(piece.buffers.size()));
      if (is_new) piece.buffers.push_back({.bytes = whole.bytes, .element_bytes = whole.element_bytes});
      c->buffer = at->second;
    }
    piece.add(piece.scripts.front().streams.front(), std::move(copy));
  }
  return piece;
}

void add(ContentKey& key, const work::Graph& excerpt) {
  key.add(static_cast<std::int64_t>(excerpt.tensors.size()));
  for (const work::TensorSpec& t : excerpt.tensors) add_tensor(key, t);
  key.add(static_cast<std::int64_t>(excerpt.buffers.size()));
  for (const work::Buffer& b : excerpt.buffers) key.add(b.bytes);
  key.add(static_cast<std::int64_t>(excerpt.operations.size()));
  for (const work::Operation& op : excerpt.operations) {
    add_numbers(key, op);
    for (const Touch& t : touches_of(excerpt, op)) {
      key.add(t.is_buffer);
      key.add(t.number);
      key.add(t.offset);
    }
  }
}

void add_shape(ContentKey& key, const work::Graph& graph, const work::Operation& op) {
  add_numbers(key, op);
  for (const work::TensorId t : tensors_of(op)) add_tensor(key, graph.tensors[static_cast<std::size_t>(t)]);
}

}  // namespace infold::study::composed
