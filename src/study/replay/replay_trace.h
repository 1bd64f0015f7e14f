// The trace of a replay: a track for each stream of each rank, with the machine's counters beside them.
#pragma once

#include "gpu/machine.h"
#include "sim/sampler.h"
#include "sim/trace.h"
#include "work/runtime.h"

namespace infold::study {

class ReplayTrace {
 public:
  /// To be made before the replay starts. Machine and runtime must outlive it.
  ReplayTrace(const sim::TraceSpec& spec, gpu::Machine& machine, work::Runtime& runtime);

  /// Requires: the replay has run.
  sim::TraceRecorder finish();
  /// The number of events that sampling has added to the queue.
  std::uint64_t events() const { return sampler_.events(); }

 private:
  gpu::Machine& machine_;
  const work::Runtime& runtime_;
  sim::TraceRecorder trace_;
  sim::Sampler sampler_;
};

}  // namespace infold::study
