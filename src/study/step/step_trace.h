// The trace of a training step: kernels and collectives on their streams, buckets on their way from one to
// the other, and the machine's counters beside them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/machine.h"
#include "sim/sampler.h"
#include "sim/trace.h"
#include "study/step/step_programs.h"
#include "study/step/step_run.h"
#include "study/step/step_times.h"
#include "train/plan.h"
#include "work/runtime.h"

namespace infold::study {

/// For example "conv 12: gradient of the filter".
std::string kernel_name(const train::Graph& graph, const train::Plan& plan, int op);

/// The kernels of one GPU, in their phases. Returns the span that shows each op.
std::vector<sim::TraceRecorder::SpanId> record_compute(sim::TraceRecorder& trace,
                                                       sim::TraceRecorder::TrackId track,
                                                       const train::Graph& graph, const train::Plan& plan,
                                                       const std::vector<RanKernel>& ran,
                                                       sim::Time backward_ended);

class StepTrace {
 public:
  /// To be made before the step starts. Everything that is passed must outlive it.
  StepTrace(const StepJob& job, const PlannedStep& step, const StepPrograms& programs, gpu::Machine& machine,
            work::Runtime& runtime);

  /// Requires: the step has run.
  sim::TraceRecorder finish();
  /// The number of events that sampling has added to the queue.
  std::uint64_t events() const { return sampler_.events(); }

 private:
  /// By parameter: the kernel after which its gradient is complete.
  struct Completed {
    sim::TraceRecorder::SpanId span = sim::TraceRecorder::kNoSpan;
    sim::Time at;
  };
  using Gradients = std::map<int, Completed>;

  void record_gpu(int gpu);
  Gradients record_plan(int gpu, sim::TraceRecorder::TrackId track);
  Gradients record_passes(int gpu, sim::TraceRecorder::TrackId track);
  void record_update(int gpu, sim::TraceRecorder::TrackId track);
  void record_memory(int gpu);
  void record_others(int gpu);
  void record_copies(int gpu, int bucket, work::OpId collective);
  void record_buckets(int gpu, const Gradients& gradients);

  const StepJob& job_;
  const PlannedStep& step_;
  const StepPrograms& programs_;
  gpu::Machine& machine_;
  const work::Runtime& runtime_;
  sim::TraceRecorder trace_;
  sim::Sampler sampler_;
};

}  // namespace infold::study
