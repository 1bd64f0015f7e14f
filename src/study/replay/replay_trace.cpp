// One span for each operation that took time.
#include "study/replay/replay_trace.h"

#include "study/watch.h"

namespace infold::study {

ReplayTrace::ReplayTrace(const sim::TraceSpec& spec, gpu::Machine& machine, work::Runtime& runtime)
    : machine_(machine), runtime_(runtime), trace_(spec), sampler_(trace_, machine.events()) {
  const int ranks = runtime.graph().ranks();
  for (int g = 0; g < ranks; ++g) {
    const auto group = trace_.group(machine.network().name(static_cast<net::NodeId>(g)));
    for (const work::Stream& stream : runtime.graph().script(g).streams) trace_.track(group, stream.name);
    watch_core(sampler_, trace_, group, machine.gpu(g).core(),
               [&runtime, g]() -> const gpu::Core& { return runtime.computes_for(g); });
  }
  watch_network(sampler_, trace_, machine, ranks);
  runtime.record(&trace_);
  sampler_.start();
}

sim::TraceRecorder ReplayTrace::finish() {
  sampler_.finish();
  const work::Graph& graph = runtime_.graph();
  for (int g = 0; g < graph.ranks(); ++g) {
    const auto group = trace_.group(machine_.network().name(static_cast<net::NodeId>(g)));
    for (const work::Stream& stream : graph.script(g).streams) {
      const auto track = trace_.track(group, stream.name);
      for (const work::OpId op : stream.ops) {
        const work::Runtime::Times t = runtime_.times(g, op);
        if (t.over() && t.end > t.start)
          trace_.span(track, trace_.name(work::label(graph, op)), t.start, t.end);
      }
    }
  }
  return std::move(trace_);
}

}  // namespace infold::study
