// An executor carries out one program on the GPUs of its ranks, with SM workgroups or with another engine.
// Execution picks it by the program's engine; the user of a collective sees only the Execution.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coll/engine/buffers.h"
#include "coll/program/program.h"
#include "coll/program/values.h"
#include "gpu/machine.h"
#include "sim/trace.h"

namespace infold::coll {

/// How the workgroups together spent the time in which they held an SM.
struct Residency {
  sim::Time resident;
  sim::Time waiting;  ///< time spent waiting for data, for room or for acknowledgements

  Residency& operator+=(const Residency& o) {
    resident += o.resident;
    waiting += o.waiting;
    return *this;
  }
};

/// What an executor works on. Everything that it refers to outlives the executor.
struct ExecutorContext {
  gpu::Machine& machine;
  const Program& program;
  const std::vector<int>& gpus;  ///< rank r is GPU gpus[r]
  Buffers& buffers;
  Values* values = nullptr;                     ///< null if only timing is simulated
  sim::TraceRecorder* trace = nullptr;          ///< null if tracing is off
  std::size_t stream = 0;                       ///< which of the communication streams of its GPUs
  std::function<void(int rank)> rank_finished;  ///< to be called once per rank, when it is through

  /// Where every communicator has a network of its own: which one this is.
  int network() const;
  gpu::Gpu& gpu(int rank) const { return machine.gpu(gpus[static_cast<std::size_t>(rank)]); }
  /// Puts work that takes no SM on a rank's stream; an engine does it, from begin to engine_done.
  void enqueue_on_engine(int rank, gpu::Work& work, sim::Time at) const;
  /// A track at a rank's GPU. It has the stream's number unless that is the first. Requires: trace.
  sim::TraceRecorder::TrackId trace_track(int rank, const std::string& label) const;
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// The host has enqueued the collective on this rank's stream at `at`, now or later.
  virtual void enqueue(int rank, sim::Time at) = 0;
  /// Covers the workgroups that are done.
  virtual Residency residency() const = 0;
  virtual std::vector<std::string> who_waits() const = 0;
};

/// What those that wait are waiting for: `why` says it of each, with an empty text for one that does not
/// wait.
template <class All, class Why>
std::vector<std::string> reasons_of(const All& all, const Why& why) {
  std::vector<std::string> lines;
  for (const auto& each : all) {
    if (std::string reason = why(each); !reason.empty()) lines.push_back(std::move(reason));
  }
  return lines;
}

/// The executor of the program's engine.
std::unique_ptr<Executor> make_executor(ExecutorContext context);

}  // namespace infold::coll
