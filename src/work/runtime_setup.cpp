// What is known of a graph before it runs: which operation waits for which, the stream that each stands in,
// and its memory.
#include <algorithm>

#include "work/runtime.h"

namespace infold::work {

namespace {

bool runs_kernels(const Stream& s) {
  return s.kind == Stream::Kind::kCompute || s.kind == Stream::Kind::kBeside;
}

Graph first_of(Graph graph) {
  graph.script_of.resize(1);
  return graph;
}

}  // namespace

Runtime::Runtime(Graph graph, gpu::Machine& machine, RuntimeOptions options)
    : Runtime(std::move(graph), &machine, machine.gpu(0).core(), std::move(options)) {}

Runtime::Runtime(Graph graph, gpu::Core& core, RuntimeOptions options)
    : Runtime(first_of(std::move(graph)), nullptr, core, std::move(options)) {}

Runtime::Runtime(Graph graph, gpu::Machine* machine, gpu::Core& first, RuntimeOptions options)
    : graph_(std::move(graph)),
      machine_(machine),
      events_(first.events()),
      options_(std::move(options)),
      stream_of_(graph_.scripts.size()) {
  if (machine != nullptr) {
    communications_ = std::make_unique<Communications>(
        graph_, *machine, options_.programs,
        [this](int rank, TensorId tensor) { return at(rank).kernels.key_of(tensor); },
        [this](int rank, OpId op) { ended(rank, op); });
  }
  for (int r = 0; r < graph_.ranks(); ++r)
    ranks_.push_back(std::make_unique<Rank>(machine == nullptr ? first : machine->gpu(r).core(), graph_));
  for (std::size_t script = 0; script < graph_.scripts.size(); ++script) {
    const auto& streams = graph_.scripts[script].streams;
    for (std::size_t s = 0; s < streams.size(); ++s) {
      for (std::size_t i = 0; i < streams[s].ops.size(); ++i)
        place(static_cast<int>(script), static_cast<int>(s), streams[s].ops[i], i);
    }
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) add_streams(static_cast<int>(r));
  const auto operations = static_cast<OpId>(graph_.operations.size());
  for (OpId op = 0; op < operations; ++op) index_operation(op);
  for (OpId op = 0; op < operations; ++op) make(op);
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    for (OpId op = 0; op < operations; ++op) count_pending(static_cast<int>(r), op);
    bytes_all_ += bytes_of(static_cast<int>(r));
  }
  in_step_ = options_.together && options_.delays.empty() && ranks_.size() > 1 && may_be_together();
}

/// Notes that operation `op` is the one at `position` in a stream of a script.
void Runtime::place(int script, int s, OpId op, std::size_t position) {
  const auto i = static_cast<std::size_t>(op);
  auto& streams = stream_of_[static_cast<std::size_t>(script)];
  if (streams.size() < graph_.operations.size()) streams.resize(graph_.operations.size(), -1);
  if (position_.size() < graph_.operations.size()) position_.resize(graph_.operations.size());
  streams[i] = s;
  position_[i] = position;
}

int Runtime::stream_of(int rank, OpId op) const {
  const auto& streams = stream_of_[static_cast<std::size_t>(script_of(rank))];
  return static_cast<std::size_t>(op) < streams.size() ? streams[static_cast<std::size_t>(op)] : -1;
}

void Runtime::add_streams(int rank) {
  Rank& r = at(rank);
  const auto& streams = graph_.script(rank).streams;
  r.streams.resize(streams.size());
  r.cursors.resize(streams.size());
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (!runs_kernels(streams[s])) continue;
    const bool beside = streams[s].kind == Stream::Kind::kBeside && machine_ != nullptr;
    r.streams[s] =
        r.kernels.core().dispatcher().add_stream(beside ? machine_->options().core.collective_priority : 0);
  }
}

/// Notes which operations wait for this one, and which gatherings it is a part of.
void Runtime::index_operation(OpId op) {
  if (dependents_.size() < graph_.operations.size()) {
    dependents_.resize(graph_.operations.size());
    gathered_by_.resize(graph_.operations.size());
    settles_.resize(graph_.operations.size());
  }
  const Operation& o = graph_[op];
  for (const OpId before : o.after) dependents_[static_cast<std::size_t>(before)].push_back(op);
  const auto* g = std::get_if<Gather>(&o.what);
  if (g == nullptr || stream_of(0, op) < 0) return;
  int part = 0;
  for (const Gather::Part& p : g->parts)
    gathered_by_[static_cast<std::size_t>(p.when)].push_back({gatherings_.size(), part++});
  gatherings_.push_back(std::make_unique<Gathering>(op, *g, graph_.ranks()));
}

/// The bytes of communication of a rank, before anything is added.
std::int64_t Runtime::bytes_of(int rank) const {
  std::int64_t sum = 0;
  for (OpId op = 0; op < static_cast<OpId>(graph_.operations.size()); ++op) {
    const Operation& o = graph_[op];
    if (stream_of(rank, op) < 0 || communicator_of(o) < 0) continue;
    if (const auto* g = std::get_if<Gather>(&o.what)) {
      for (const Gather::Part& p : g->parts) sum += p.bytes.count();
    } else {
      sum += graph_.buffers[static_cast<std::size_t>(buffer_of(o))].bytes.count();
    }
  }
  return sum;
}

/// Gives an operation its memory on every rank that has it.
void Runtime::make(OpId op) {
  const Operation& o = graph_[op];
  const bool communicates = communicator_of(o) >= 0 && !std::holds_alternative<Gather>(o.what);
  for (int r = 0; r < static_cast<int>(ranks_.size()); ++r) {
    const auto& idle = graph_.script(r).idle;
    const bool runs = stream_of(r, op) >= 0;
    if (!runs && std::ranges::find(idle, op) == idle.end()) continue;
    RankKernels& kernels = at(r).kernels;
    if (!communicates) {
      kernels.make(op);
    } else if (runs) {
      const Communications::Memory m = communications_->join(r, op);
      kernels.place(buffer_of(o), m.input, m.output);
    } else {
      const BufferId b = buffer_of(o);
      const Buffer& buffer = graph_.buffers[static_cast<std::size_t>(b)];
      const coll::Program& program =
          options_.programs(o, buffer.bytes, some_group_of(graph_, communicator_of(o), r));
      if (works_in_tensors(graph_, buffer, program)) {
        const std::uint64_t input = kernels.key_of(buffer.input);
        kernels.place(b, input, kernels.key_of(buffer.output));
        continue;
      }
      const coll::Buffers::Sizes need = coll::buffers_for(program);
      gpu::AddressSpace& space = kernels.core().addresses();
      const std::uint64_t input =
          space.buffer(need.in_place ? sim::max(need.input, need.output) : need.input);
      kernels.place(b, input, need.in_place ? input : space.buffer(need.output));
    }
  }
}

void Runtime::count_pending(int rank, OpId op) {
  Rank& r = at(rank);
  const auto i = static_cast<std::size_t>(op);
  if (r.pending.size() <= i) {
    r.pending.resize(i + 1);
    r.times.resize(i + 1);
  }
  r.pending[i] = static_cast<int>(
      std::ranges::count_if(graph_[op].after, [&](OpId before) { return stream_of(rank, before) >= 0; }));
  if (r.pending[i] == 0) r.times[i].ready = events_.now();
}

/// Whether one rank may stand for all at first: there is one script with one stream of compute, nothing
/// begins with communication, and compute waits for it only where a marker says that all before has ended.
bool Runtime::may_be_together() const {
  if (graph_.scripts.size() != 1) return false;
  const auto& streams = graph_.scripts.front().streams;
  int compute = -1;
  for (std::size_t s = 0; s < streams.size(); ++s) {
    if (streams[s].kind == Stream::Kind::kHost || streams[s].ops.empty()) continue;
    if (streams[s].kind != Stream::Kind::kCompute) {
      if (graph_[streams[s].ops.front()].after.empty()) return false;
      continue;
    }
    if (compute >= 0) return false;
    compute = static_cast<int>(s);
  }
  if (compute < 0) return false;
  const std::vector<OpId>& ops = streams[static_cast<std::size_t>(compute)].ops;
  const auto waits = [&](OpId op) {
    return std::ranges::any_of(graph_[op].after, [&](OpId b) { return stream_of(0, b) != compute; });
  };
  const auto first = std::ranges::find_if(ops, waits);
  return first == ops.end() || (first != ops.begin() && is_marker(graph_[*std::prev(first)]));
}

}  // namespace infold::work
