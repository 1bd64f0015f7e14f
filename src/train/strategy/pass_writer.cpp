// Ops become operations; the last uses of each tensor tell what they wait for.
#include "train/strategy/pass_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/params.h"

namespace infold::train {

namespace {

bool is_kept(TensorSpec::Role role) {
  return role == TensorSpec::Role::kWeight || role == TensorSpec::Role::kGradient ||
         role == TensorSpec::Role::kOptimizer;
}

std::size_t stream_of_axis(Axis axis) {
  return 1 + static_cast<std::size_t>(axis);
}

}  // namespace

work::CommunicatorId AxisStreams::communicator(Axis axis) {
  const auto [place, is_new] =
      communicators_.try_emplace(axis, static_cast<work::CommunicatorId>(graph_.communicators.size()));
  if (is_new)
    graph_.communicators.push_back(
        {.name = std::string(sim::name_of(axis)), .groups = groups_of(layout_, axis)});
  return place->second;
}

std::size_t AxisStreams::stream(std::size_t script, Axis axis) {
  auto& streams = graph_.scripts[script].streams;
  const auto [place, is_new] = streams_.try_emplace({script, axis}, streams.size());
  if (is_new)
    streams.push_back({.name = std::string(sim::name_of(axis)),
                       .kind = work::Stream::Kind::kCommunication,
                       .communicator = communicator(axis)});
  return place->second;
}

PassWriter::PassWriter(work::Graph& graph, const Plan& plan, AxisStreams& axes, std::size_t script,
                       std::size_t compute)
    : graph_(graph),
      plan_(plan),
      axes_(axes),
      script_(script),
      compute_(compute),
      first_tensor_(static_cast<TensorId>(graph.tensors.size())) {
  graph.tensors.insert(graph.tensors.end(), plan.tensors.begin(), plan.tensors.end());
  for (Waits& w : known_) w.fill(-1);
}

TensorId PassWriter::tensor(TensorId t, int micro_batch) {
  const TensorSpec& spec = plan_.tensors[static_cast<std::size_t>(t)];
  if (micro_batch == 0 || is_kept(spec.role)) return first_tensor_ + t;
  if (own_.size() <= static_cast<std::size_t>(micro_batch))
    own_.resize(static_cast<std::size_t>(micro_batch) + 1);
  auto& own = own_[static_cast<std::size_t>(micro_batch)];
  const auto known = own.find(t);
  return known != own.end() ? known->second : own[t] = graph_.add(spec);
}

/// Returns a kernel of the plan with the tensors of the graph in place of the plan's.
Computation PassWriter::rename(const Computation& what, int micro_batch) {
  Computation renamed = what;
  const auto all = [&](auto&... ids) { ((ids = tensor(ids, micro_batch)), ...); };
  if (auto* m = std::get_if<MatMul>(&renamed)) {
    all(m->left, m->right, m->out);
  } else if (auto* c = std::get_if<Convolve>(&renamed)) {
    all(c->in, c->out, c->filter);
  } else if (auto* a = std::get_if<Attend>(&renamed)) {
    all(a->query, a->key, a->value, a->out);
    if (a->backward) all(a->d_query, a->d_key, a->d_value, a->d_out);
  } else if (auto* s = std::get_if<Streaming>(&renamed)) {
    for (Streaming::Pass& pass : s->passes) {
      for (TensorId& t : pass.reads) t = tensor(t, micro_batch);
      for (TensorId& t : pass.writes) t = tensor(t, micro_batch);
      for (Streaming::Pass::Rows& some : pass.some) some.tensor = tensor(some.tensor, micro_batch);
    }
  }
  return renamed;
}

void PassWriter::read(TensorId t, std::size_t stream, work::OpId op, Waits& waits) {
  Use& use = uses_[t];
  if (use.written >= 0) {
    waits[use.writer] = std::max(waits[use.writer], use.written);
  } else if (stream != 0) {
    // Parts of a tensor are written under the name of the whole, by a kernel before this.
    waits[0] = std::max(waits[0], last_kernel_);
  }
  use.reads[stream] = op;
}

void PassWriter::write(TensorId t, std::size_t stream, work::OpId op, Waits& waits) {
  Use& use = uses_[t];
  if (use.written >= 0) waits[use.writer] = std::max(waits[use.writer], use.written);
  for (std::size_t s = 0; s < kStreams; ++s) {
    if (use.reads[s] != op) waits[s] = std::max(waits[s], use.reads[s]);
  }
  use = {};
  use.written = op;
  use.writer = stream;
}

/// Keeps of these operations those that the stream has not waited for yet.
std::vector<work::OpId> PassWriter::after(std::size_t stream, const Waits& waits) {
  std::vector<work::OpId> ops;
  for (std::size_t s = 0; s < kStreams; ++s) {
    if (s == stream || waits[s] <= known_[stream][s]) continue;
    known_[stream][s] = waits[s];
    ops.push_back(waits[s]);
  }
  return ops;
}

work::OpId PassWriter::add(int op, int micro_batch) {
  const Op& what = plan_.ops[static_cast<std::size_t>(op)];
  const auto id = static_cast<work::OpId>(graph_.operations.size());
  Waits waits;
  waits.fill(-1);
  work::Operation operation{.what = work::Marker{}};
  std::size_t stream = 0;
  if (const Communicate* c = what.communication()) {
    stream = stream_of_axis(c->axis);
    const TensorId in = tensor(c->in, micro_batch);
    const TensorId out = tensor(c->out, micro_batch);
    const auto bytes = [&](TensorId t) { return graph_.tensors[static_cast<std::size_t>(t)].bytes(); };
    const work::BufferId buffer = graph_.add(
        work::Buffer{.bytes = sim::Bytes{std::max(bytes(in), bytes(out))}, .input = in, .output = out});
    axes_.stream(script_, c->axis);
    operation = {.what = work::Collective{.communicator = axes_.communicator(c->axis),
                                          .what = c->what,
                                          .buffer = buffer,
                                          .tokens = c->tokens},
                 .name = fmt::format("{} {} {}", sim::name_of(c->axis), sim::name_of(c->what), id)};
    read(in, stream, id, waits);
    write(out, stream, id, waits);
  } else {
    work::Kernel kernel{.what = rename(*what.kernel(), micro_batch),
                        .precision = plan_.recipe.precision(),
                        .batch = plan_.recipe.batch};
    const work::Touched touched = work::touched(kernel.what);
    for (const TensorId t : touched.reads) read(t, stream, id, waits);
    for (const TensorId t : touched.writes) write(t, stream, id, waits);
    operation = {.what = std::move(kernel)};
    last_kernel_ = id;
  }
  operation.after = after(stream, waits);
  return graph_.add(std::move(operation));
}

void PassWriter::put(work::OpId op) {
  const work::CommunicatorId c = work::communicator_of(graph_[op]);
  auto& streams = graph_.scripts[script_].streams;
  const auto runs = [&](const work::Stream& s) {
    return s.kind == work::Stream::Kind::kCommunication && s.communicator == c;
  };
  auto& stream = c < 0 ? streams[compute_] : *std::ranges::find_if(streams, runs);
  stream.ops.push_back(op);
}

std::vector<work::OpId> PassWriter::run(Phase phase, int micro_batch) {
  std::vector<work::OpId> ops;
  for (int op = 0; op < static_cast<int>(plan_.ops.size()); ++op) {
    if (plan_.ops[static_cast<std::size_t>(op)].phase != phase) continue;
    ops.push_back(add(op, micro_batch));
    put(ops.back());
  }
  return ops;
}

}  // namespace infold::train
