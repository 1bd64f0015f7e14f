// From what ran when to spans and arrows.
#include "study/step/step_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "study/watch.h"

namespace infold::study {

namespace {

using SpanId = sim::TraceRecorder::SpanId;
using TrackId = sim::TraceRecorder::TrackId;

const char* work_name(const train::Op& op) {
  const bool backward = op.phase == train::Phase::kBackward && !op.again;
  if (const auto* m = std::get_if<train::MatMul>(op.kernel())) {
    if (!backward) return "product";
    return m->of_weights ? "gradient of weights" : "gradient of data";
  }
  if (const auto* c = std::get_if<train::Convolve>(op.kernel())) {
    if (c->way == train::Convolve::Way::kFilterGradient) return "gradient of the filter";
    return c->way == train::Convolve::Way::kDataGradient ? "gradient of data" : "convolution";
  }
  if (std::holds_alternative<train::Attend>(*op.kernel())) return backward ? "backward" : "forward";
  return op.phase == train::Phase::kOptimizer ? "update" : "streaming";
}

double megabytes(sim::Bytes n) {
  return static_cast<double>(n.count()) * 1e-6;
}

/// Tracks of one name: as few as are needed so that nothing overlaps.
class Lanes {
 public:
  Lanes(sim::TraceRecorder& trace, TrackId group, std::string label)
      : trace_(trace), group_(group), label_(std::move(label)) {}
  /// Requires: called in the order of `begin`.
  TrackId take(sim::Time begin, sim::Time end) {
    auto free = std::ranges::find_if(ends_, [&](sim::Time t) { return t <= begin; });
    if (free == ends_.end()) free = ends_.insert(ends_.end(), end);
    *free = end;
    const auto lane = free - ends_.begin();
    return trace_.track(group_, lane == 0 ? label_ : fmt::format("{} ({})", label_, lane + 1));
  }

 private:
  sim::TraceRecorder& trace_;
  TrackId group_;
  std::string label_;
  std::vector<sim::Time> ends_;
};

/// Whether an operation brings gradients together that kernels have completed: a bucket.
bool reduces_gradients(const work::Operation& op) {
  const auto* c = std::get_if<work::Collective>(&op.what);
  return c != nullptr && coll::reduces(c->what) && !op.gradients.empty();
}

std::vector<work::OpId> reductions(const work::Runtime& runtime, int gpu) {
  std::vector<work::OpId> all;
  for (const work::OpId op : runtime.communications(gpu)) {
    if (reduces_gradients(runtime.graph()[op])) all.push_back(op);
  }
  return all;
}

const char* reduction_name(const coll::Program& program) {
  return program.collective == coll::Collective::kAllReduce ? "all-reduce" : "reduce-scatter";
}

}  // namespace

std::string kernel_name(const train::Graph& graph, const train::Plan& plan, int index) {
  const train::Op& op = plan.ops[static_cast<std::size_t>(index)];
  if (op.operation < 0) return work_name(op);
  const train::Operation& operation = graph.operations[static_cast<std::size_t>(op.operation)];
  const auto* layer = std::get_if<train::Layer>(&operation.what);
  return fmt::format("{} {}: {}{}", layer == nullptr ? "join" : train::name_of(*layer), op.operation,
                     work_name(op), op.again ? " again" : "");
}

std::vector<SpanId> record_compute(sim::TraceRecorder& trace, TrackId track, const train::Graph& graph,
                                   const train::Plan& plan, const std::vector<RanKernel>& ran,
                                   sim::Time backward_ended) {
  constexpr std::array kPhases = {"forward", "backward", "optimizer"};
  std::array<sim::Time, 3> begin;
  std::array<sim::Time, 3> end;
  begin.fill(sim::Time::never());
  for (const RanKernel& k : ran) {
    if (k.what != RanKernel::What::kOp) continue;
    const auto phase = static_cast<std::size_t>(plan.ops[static_cast<std::size_t>(k.index)].phase);
    begin[phase] = sim::min(begin[phase], k.began);
    end[phase] = sim::max(end[phase], k.ended);
  }
  end[1] = sim::max(end[1], backward_ended);
  for (std::size_t p = 0; p < kPhases.size(); ++p) {
    if (begin[p] != sim::Time::never()) trace.span(track, trace.name(kPhases[p]), begin[p], end[p]);
  }
  std::vector<SpanId> span_of_op(plan.ops.size(), sim::TraceRecorder::kNoSpan);
  for (const RanKernel& k : ran) {
    switch (k.what) {
      case RanKernel::What::kOp:
        span_of_op[static_cast<std::size_t>(k.index)] =
            trace.span(track, trace.name(kernel_name(graph, plan, k.index)), k.began, k.ended);
        break;
      case RanKernel::What::kCopyIn:
        trace.span(track, trace.name(fmt::format("gradient {} into its bucket", k.index)), k.began, k.ended);
        break;
      case RanKernel::What::kCopyBack:
        trace.span(track, trace.name(fmt::format("gradient {} out of its bucket", k.index)), k.began,
                   k.ended);
        break;
    }
  }
  return span_of_op;
}

StepTrace::StepTrace(const StepJob& job, const PlannedStep& step, const StepPrograms& programs,
                     gpu::Machine& machine, work::Runtime& runtime)
    : job_(job),
      step_(step),
      programs_(programs),
      machine_(machine),
      runtime_(runtime),
      trace_(*job.trace),
      sampler_(trace_, machine.events()) {
  for (int g = 0; g < job.gpus; ++g) {
    const TrackId group = trace_.group(machine.network().name(static_cast<net::NodeId>(g)));
    trace_.track(group, "compute stream");
    trace_.track(group, "buckets");
    trace_.track(group, "communication stream");
    watch_core(sampler_, trace_, group, machine.gpu(g).core(),
               [&runtime, g]() -> const gpu::Core& { return runtime.computes_for(g); });
  }
  watch_network(sampler_, trace_, machine, job.gpus);
  runtime.record(&trace_);
  sampler_.start();
}

sim::TraceRecorder StepTrace::finish() {
  sampler_.finish();
  for (int g = 0; g < job_.gpus; ++g) record_gpu(g);
  return std::move(trace_);
}

void StepTrace::record_gpu(int g) {
  const TrackId group = trace_.group(machine_.network().name(static_cast<net::NodeId>(g)));
  const TrackId track = trace_.track(group, "compute stream");
  record_buckets(g, step_.plan ? record_plan(g, track) : record_passes(g, track));
  record_others(g);
  record_memory(g);
}

StepTrace::Gradients StepTrace::record_plan(int g, TrackId track) {
  const train::Plan& plan = *step_.plan;
  const std::vector<RanKernel> ran = ran_kernels(runtime_, plan, g);
  const std::vector<SpanId> span_of_op = record_compute(trace_, track, *job_.graph, plan, ran,
                                                        runtime_.times(g, step_.backward_ended.front()).end);
  std::vector<sim::Time> op_ended(plan.ops.size());
  for (const RanKernel& k : ran) {
    if (k.what == RanKernel::What::kOp) op_ended[static_cast<std::size_t>(k.index)] = k.ended;
  }
  Gradients gradients;
  for (const train::GradientReady& r : plan.ready) {
    const auto op = static_cast<std::size_t>(r.op);
    gradients[r.parameter] = {.span = span_of_op[op], .at = op_ended[op]};
  }
  return gradients;
}

/// A span for each pass of a pipeline's stage, with its kernels in it. The last micro-batch completes
/// gradients.
StepTrace::Gradients StepTrace::record_passes(int g, TrackId track) {
  const train::PipelinePlan& pipeline = *step_.pipeline;
  const work::Graph& graph = runtime_.graph();
  Gradients gradients;
  for (const train::PassOps& pass : step_.passes) {
    if (pass.stage != graph.script_of[static_cast<std::size_t>(g)]) continue;
    trace_.span(track, trace_.name(name_of(pass.pass, pipeline.spec.virtual_stages > 1)),
                runtime_.times(g, pass.first).start, runtime_.times(g, pass.last).end);
    const auto part = static_cast<std::size_t>(pipeline.part_of(pass.stage, pass.pass.chunk));
    for (const auto& [op, index] : train::kernels_of(pipeline, step_.graph, pass)) {
      if (!runtime_.ran(g, op)) continue;
      const work::Runtime::Times t = runtime_.times(g, op);
      const SpanId span = trace_.span(
          track, trace_.name(kernel_name(pipeline.parts[part].graph, pipeline.plans[part], index)), t.start,
          t.end);
      for (const int p : graph[op].gradients) gradients[p] = {.span = span, .at = t.end};
    }
  }
  record_update(g, track);
  return gradients;
}

void StepTrace::record_update(int g, TrackId track) {
  const StepTimes times = step_times(runtime_, step_, g);
  if (times.optimizer_ended == sim::Time{}) return;
  trace_.span(track, trace_.name("optimizer"), times.optimizer_began, times.optimizer_ended);
  for (const work::OpId op : runtime_.graph().script(g).streams.front().ops) {
    const auto i = static_cast<std::size_t>(op);
    if (i >= step_.phases.size() || step_.phases[i] != train::Phase::kOptimizer || !runtime_.ran(g, op))
      continue;
    const work::Runtime::Times t = runtime_.times(g, op);
    trace_.span(track, trace_.name("update"), t.start, t.end);
  }
}

/// What is in memory beside weights, gradients and the state of the optimizer. All GPUs together take a tenth
/// of the samples that are allowed.
void StepTrace::record_memory(int g) {
  constexpr std::size_t kShare = 10;
  const std::size_t most =
      job_.trace->most_samples / kShare / 2 / static_cast<std::size_t>(std::max(job_.gpus, 1));
  if (job_.trace->most_spans == 0 || most < 2) return;  // a page has its own
  const auto script = static_cast<std::size_t>(runtime_.graph().script_of[static_cast<std::size_t>(g)]);
  const MemoryOverTime memory =
      thinned(memory_over_time(runtime_, step_.memory_curves[script], step_.needs[script], g), most - 1);
  const TrackId group = trace_.group(machine_.network().name(static_cast<net::NodeId>(g)));
  const TrackId activations = trace_.counter(group, "memory of activations", "bytes");
  for (const MemoryOverTime::Level& l : memory.levels)
    trace_.sample(activations, l.from, static_cast<double>(l.passing));
  if (step_.needs[script].gathered == sim::Bytes{}) return;
  const TrackId gathered = trace_.counter(group, "memory of what is gathered", "bytes");
  for (const MemoryOverTime::Level& l : memory.levels)
    trace_.sample(gathered, l.from, static_cast<double>(l.gathered));
}

/// Communication that is no bucket: a span for each, in a track per communicator.
void StepTrace::record_others(int g) {
  const work::Graph& graph = runtime_.graph();
  const TrackId group = trace_.group(machine_.network().name(static_cast<net::NodeId>(g)));
  for (const work::OpId op : runtime_.communications(g)) {
    if (reduces_gradients(graph[op])) continue;
    const auto c = static_cast<std::size_t>(work::communicator_of(graph[op]));
    const work::Runtime::Times t = runtime_.times(g, op);
    trace_.span(trace_.track(group, fmt::format("communicator {}", graph.communicators[c].name)),
                trace_.name(fmt::format("{}, {:.1f} MB", work::label(graph, op),
                                        megabytes(runtime_.program(g, op).bytes))),
                t.start, t.end);
  }
}

/// A bucket fills, waits for its turn, and is reduced. Arrows lead from the kernels that filled it to where
/// it is complete, and from there to its collective.
void StepTrace::record_buckets(int g, const Gradients& gradients) {
  const TrackId group = trace_.group(machine_.network().name(static_cast<net::NodeId>(g)));
  const TrackId stream = trace_.track(group, "communication stream");
  const auto completed = [&](int p) {
    const auto found = gradients.find(p);
    return found == gradients.end() ? Completed{.at = sim::Time::never()} : found->second;
  };
  const std::vector<work::OpId> buckets = reductions(runtime_, g);
  const auto op_of_bucket = [&](int b) { return buckets[static_cast<std::size_t>(b)]; };
  const auto parameters = [&](int b) -> const std::vector<int>& {
    return runtime_.graph()[op_of_bucket(b)].gradients;
  };
  std::vector<sim::Time> filling(buckets.size());
  std::vector<int> order(filling.size());
  std::iota(order.begin(), order.end(), 0);
  for (const int b : order) {
    sim::Time first = runtime_.times(g, op_of_bucket(b)).ready;
    for (const int p : parameters(b)) first = sim::min(first, completed(p).at);
    filling[static_cast<std::size_t>(b)] = first;
  }
  std::ranges::stable_sort(order, {}, [&](int b) { return filling[static_cast<std::size_t>(b)]; });

  Lanes lanes(trace_, group, "buckets");
  for (const int b : order) {
    const work::Runtime::Times turn = runtime_.times(g, op_of_bucket(b));
    const sim::Bytes bytes = runtime_.program(g, op_of_bucket(b)).bytes;
    const Choice& choice = programs_.at(runtime_.graph(), g, op_of_bucket(b)).choice;
    const sim::Time first = filling[static_cast<std::size_t>(b)];
    const TrackId lane = lanes.take(first, turn.end);
    trace_.span(lane, trace_.name(fmt::format("bucket {}, {:.1f} MB", b, megabytes(bytes))), first, turn.end);
    trace_.span(lane, trace_.name("fills"), first, turn.ready);
    const SpanId waits = trace_.span(lane, trace_.name("is complete and waits"), turn.ready, turn.start);
    trace_.span(lane, trace_.name("is reduced"), turn.start, turn.end);
    const SpanId collective =
        trace_.span(stream,
                    trace_.name(fmt::format("{} of bucket {}, {} {}",
                                            reduction_name(runtime_.program(g, op_of_bucket(b))), b,
                                            name_of(choice), sim::name_of(choice.protocol))),
                    turn.start, turn.end);
    for (const int p : parameters(b)) trace_.arrow(completed(p).span, waits);
    trace_.arrow(waits, collective);
    record_copies(g, b, op_of_bucket(b));
  }
}

/// The kernels that fill and empty a bucket's memory beside compute, if there are any.
void StepTrace::record_copies(int g, int bucket, work::OpId collective) {
  const work::Graph& graph = runtime_.graph();
  const work::BufferId buffer = work::buffer_of(graph[collective]);
  for (const work::Stream& stream : graph.script(g).streams) {
    if (stream.kind != work::Stream::Kind::kBeside) continue;
    for (const work::OpId op : stream.ops) {
      const auto& copy = std::get<work::Copy>(graph[op].what);
      if (copy.buffer != buffer) continue;
      const work::Runtime::Times t = runtime_.times(g, op);
      trace_.span(
          trace_.track(trace_.group(machine_.network().name(static_cast<net::NodeId>(g))), "packing stream"),
          trace_.name(fmt::format("bucket {} {}", bucket, copy.back ? "out" : "in")), t.start, t.end);
    }
  }
}

}  // namespace infold::study
