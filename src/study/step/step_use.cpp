// Reads a rank's streams in their order.
#include "study/step/step_use.h"

#include <algorithm>
#include <map>
#include <utility>

namespace infold::study {

namespace {

using work::OpId;

bool communicates(const work::Operation& op) {
  return std::holds_alternative<work::Collective>(op.what) || std::holds_alternative<work::Transfer>(op.what);
}

bool computes(const work::Stream& stream) {
  return stream.kind == work::Stream::Kind::kCompute;
}

/// The communication that an operation outside compute brings: itself, or what it waits for.
void collect(const work::Graph& graph, const std::vector<bool>& in_compute, OpId op,
             std::vector<OpId>& found) {
  if (in_compute[static_cast<std::size_t>(op)]) return;
  if (communicates(graph[op])) {
    found.push_back(op);
    return;
  }
  for (const OpId before : graph[op].after) collect(graph, in_compute, before, found);
}

KernelClass class_of(const work::Operation& op) {
  const auto* kernel = std::get_if<work::Kernel>(&op.what);
  if (std::holds_alternative<work::Timed>(op.what)) return KernelClass::kTimed;
  if (kernel == nullptr) return KernelClass::kCopy;
  if (std::holds_alternative<work::MatMul>(kernel->what)) return KernelClass::kProduct;
  if (std::holds_alternative<work::Convolve>(kernel->what)) return KernelClass::kConvolution;
  if (std::holds_alternative<work::Attend>(kernel->what)) return KernelClass::kAttention;
  return KernelClass::kStreaming;
}

/// A stretch of time.
struct Stretch {
  sim::Time begin;
  sim::Time end;
};

/// The spans of time, in order, in which at least that many communications were under way on a rank.
std::vector<Stretch> spans_with(const work::Timeline& timeline, int rank, int least) {
  std::vector<std::pair<sim::Time, int>> changes;
  for (const OpId op : timeline.communications(rank)) {
    const work::Timeline::Times t = timeline.times(rank, op);
    if (!t.over() || t.end <= t.start) continue;
    changes.emplace_back(t.start, 1);
    changes.emplace_back(t.end, -1);
  }
  std::ranges::sort(changes);
  std::vector<Stretch> spans;
  int under_way = 0;
  for (const auto& [at, by] : changes) {
    const bool before = under_way >= least;
    under_way += by;
    if (!before && under_way >= least) spans.push_back({at, at});
    if (before && under_way < least) spans.back().end = at;
  }
  return spans;
}

/// The part of [begin, end) that lies in one of the spans.
sim::Time covered(const std::vector<Stretch>& spans, sim::Time begin, sim::Time end) {
  sim::Time sum;
  auto s = std::ranges::upper_bound(spans, begin, {}, &Stretch::end);
  for (; s != spans.end() && s->begin < end; ++s) sum += sim::min(s->end, end) - sim::max(s->begin, begin);
  return sum;
}

/// Adds up what a stream of compute waited for, from `now` on.
class Idle {
 public:
  Idle(const work::Timeline& timeline, int rank, Waits& waits)
      : timeline_(timeline), rank_(rank), waits_(waits) {}

  /// Compute had nothing to do from `now` on until the last of these had ended, or until `limit`. `phase`:
  /// that of the kernel that waited.
  void wait(std::vector<OpId> communication, sim::Time now, sim::Time limit,
            std::optional<train::Phase> phase) {
    const auto end_of = [&](OpId op) { return timeline_.times(rank_, op).end; };
    std::ranges::sort(communication, {}, [&](OpId op) { return std::pair{end_of(op), op}; });
    for (const OpId op : communication) {
      const sim::Time end = sim::min(end_of(op), limit);
      if (end <= now) continue;
      if (std::holds_alternative<work::Transfer>(timeline_.graph()[op].what)) {
        const sim::Time sent = sim::min(sim::max(timeline_.all_there(rank_, op), now), end);
        waits_.stages += sent - now;
        now = sent;
      }
      const auto i = static_cast<std::size_t>(op);
      waits_.by_op[i] += end - now;
      if (phase == train::Phase::kForward) waits_.by_op_in_forward[i] += end - now;
      if (phase == train::Phase::kBackward) waits_.by_op_in_backward[i] += end - now;
      now = end;
    }
  }

 private:
  const work::Timeline& timeline_;
  int rank_;
  Waits& waits_;
};

}  // namespace

double KernelUse::slowdown_beside() const {
  const double more = beside.in_s() - alone.in_s();
  const double without = overlapped.in_s() - more;
  return without > 0 ? more / without : 0;
}

sim::Time Waits::exposed() const {
  sim::Time sum;
  for (const sim::Time t : by_op) sum += t;
  return sum;
}

Waits waits_of(const work::Timeline& timeline, int rank, std::span<const std::optional<train::Phase>> phases,
               sim::Time end) {
  const work::Graph& graph = timeline.graph();
  Waits waits;
  for (auto* times : {&waits.by_op, &waits.by_op_in_forward, &waits.by_op_in_backward})
    times->resize(graph.operations.size());
  Idle idle(timeline, rank, waits);
  std::vector<bool> in_compute(graph.operations.size());
  for (const work::Stream& stream : graph.script(rank).streams) {
    for (const OpId op : stream.ops) in_compute[static_cast<std::size_t>(op)] = computes(stream);
  }
  sim::Time now;
  for (const work::Stream& stream : graph.script(rank).streams) {
    if (!computes(stream)) continue;
    std::vector<OpId> before;           // communication that the stream waits for before its next kernel
    std::optional<train::Phase> phase;  // of a copy, that of the kernel before
    for (const OpId op : stream.ops) {
      const auto i = static_cast<std::size_t>(op);
      if (i < phases.size() && phases[i]) phase = phases[i];
      for (const OpId b : graph[op].after) collect(graph, in_compute, b, before);
      if (!timeline.ran(rank, op)) continue;
      const work::Timeline::Times t = timeline.times(rank, op);
      idle.wait(std::exchange(before, {}), now, t.start, phase);
      now = sim::max(now, t.end);
    }
  }
  // What is still under way behind the last kernel belongs to the step.
  std::vector<OpId> rest;
  for (const work::Stream& stream : graph.script(rank).streams) {
    if (stream.kind != work::Stream::Kind::kCommunication) continue;
    for (const OpId op : stream.ops) {
      if (communicates(graph[op]) && timeline.times(rank, op).end > now) rest.push_back(op);
    }
  }
  sim::Time last = now;
  for (const OpId op : rest) last = sim::max(last, timeline.times(rank, op).end);
  idle.wait(std::move(rest), now, end, std::nullopt);
  if (graph.scripts.size() > 1 && end > last) waits.stages += end - last;
  return waits;
}

CopyTime copy_time(const work::Timeline& timeline, int rank, const std::vector<sim::Time>& alone,
                   const StepTimes& times, sim::Time gap) {
  CopyTime sum;
  for (const work::Stream& stream : timeline.graph().script(rank).streams) {
    if (!computes(stream)) continue;
    for (const OpId op : stream.ops) {
      const auto i = static_cast<std::size_t>(op);
      const bool ran_alone = i < alone.size() && alone[i] > sim::Time{};
      if (ran_alone || !timeline.ran(rank, op) || class_of(timeline.graph()[op]) != KernelClass::kCopy)
        continue;
      const work::Timeline::Times t = timeline.times(rank, op);
      const std::vector<Stretch> taken = {{sim::max(t.start, gap) - gap, t.end}};
      sum.step += taken.front().end - taken.front().begin;
      sum.forward += covered(taken, times.forward_began, times.forward_ended);
      sum.backward += covered(taken, times.backward_began, times.backward_ended);
    }
  }
  return sum;
}

sim::Time together(const work::Timeline& timeline, int rank) {
  sim::Time sum;
  for (const Stretch& s : spans_with(timeline, rank, 2)) sum += s.end - s.begin;
  return sum;
}

std::vector<CommunicationUse> communication_use(const work::Timeline& timeline, const StepPrograms& programs,
                                                int rank, const Waits& waits) {
  const work::Graph& graph = timeline.graph();
  std::map<std::pair<work::CommunicatorId, coll::Collective>, std::size_t> place;
  std::vector<CommunicationUse> all;
  for (const work::Stream& stream : graph.script(rank).streams) {
    for (const OpId op : stream.ops) {
      if (!communicates(graph[op])) continue;
      const coll::Program& program = timeline.program(rank, op);
      const work::CommunicatorId c = work::communicator_of(graph[op]);
      const auto [at, is_new] = place.try_emplace({c, program.collective}, all.size());
      if (is_new) {
        all.push_back({.communicator = graph.communicators[static_cast<std::size_t>(c)].name,
                       .what = program.collective,
                       .algorithms = {},
                       .ranks = program.ranks,
                       .calls = 0,
                       .bytes = {},
                       .busy = {},
                       .exposed = {},
                       .exposed_in_forward = {},
                       .exposed_in_backward = {}});
      }
      CommunicationUse& use = all[at->second];
      const work::Timeline::Times t = timeline.times(rank, op);
      const std::string algorithm(name_of(programs.at(graph, rank, op).choice));
      if (std::ranges::find(use.algorithms, algorithm) == use.algorithms.end())
        use.algorithms.push_back(algorithm);
      ++use.calls;
      use.bytes += program.bytes;
      use.busy += t.end - t.start;
      use.exposed += waits.by_op[static_cast<std::size_t>(op)];
      use.exposed_in_forward += waits.by_op_in_forward[static_cast<std::size_t>(op)];
      use.exposed_in_backward += waits.by_op_in_backward[static_cast<std::size_t>(op)];
    }
  }
  return all;
}

std::vector<sim::Time> kernel_times(const work::Timeline& timeline, int rank) {
  std::vector<sim::Time> all(timeline.graph().operations.size());
  for (OpId op = 0; op < static_cast<OpId>(all.size()); ++op) {
    if (!timeline.ran(rank, op)) continue;
    const work::Timeline::Times t = timeline.times(rank, op);
    all[static_cast<std::size_t>(op)] = t.end - t.start;
  }
  return all;
}

std::vector<KernelUse> kernel_use(const work::Timeline& timeline, int rank,
                                  const std::vector<sim::Time>& alone) {
  std::map<KernelClass, KernelUse> by_class;
  const std::vector<Stretch> communicating = spans_with(timeline, rank, 1);
  for (const work::Stream& stream : timeline.graph().script(rank).streams) {
    if (!computes(stream)) continue;
    for (const OpId op : stream.ops) {
      const auto i = static_cast<std::size_t>(op);
      if (i >= alone.size() || alone[i] == sim::Time{} || !timeline.ran(rank, op)) continue;
      KernelUse& use = by_class[class_of(timeline.graph()[op])];
      const work::Timeline::Times t = timeline.times(rank, op);
      ++use.kernels;
      use.alone += alone[i];
      use.beside += t.end - t.start;
      use.overlapped += covered(communicating, t.start, t.end);
    }
  }
  std::vector<KernelUse> all;
  for (auto& [what, use] : by_class) {
    use.what = what;
    all.push_back(use);
  }
  return all;
}

}  // namespace infold::study
