// Runs a workload on a machine: how long a step takes, what communication costs it, and how much longer
// kernels take beside communication than alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/sm/core.h"
#include "sim/result.h"
#include "sim/trace.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "study/replay/workload.h"
#include "study/step/step_use.h"

namespace infold::study {

struct ReplayJob {
  SystemPtr system;
  const Workload* workload = nullptr;  ///< of at most as many ranks as the system has GPUs
  Method method;
  std::optional<coll::Protocol> protocol;  ///< if there is none, it is chosen for each size
  gpu::CoreOptions core{};
  BurstChoice burst;
  std::vector<sim::Time> delays = {};        ///< how late each rank begins; if empty, none is late
  std::optional<sim::TraceSpec> trace = {};  ///< nothing is recorded if there is none
};

struct ReplayResult {
  int ranks = 0;
  int operations = 0;  ///< that run, on all ranks together
  int slowest = 0;     ///< the rank that ends last; the fields up to `kernels` are about it
  sim::Time step;      ///< until the last rank has ended
  sim::Time alone;     ///< the same without communication: the slowest rank by itself
  sim::Time communicating;
  sim::Time uncovered;  ///< communication without a kernel of compute beside it
  sim::Time waited;     ///< compute waited for communication
  sim::Time together;   ///< communication of several communicators
  std::vector<CommunicationUse> communication = {};
  std::vector<KernelUse> kernels = {};
  sim::Bytes burst;
  int sms = 0;  ///< most SMs that communication holds
  std::uint64_t events = 0;
  std::uint64_t packet_hops = 0;
  std::uint64_t link_bytes = 0;
  std::optional<sim::TraceRecorder> trace = {};
};

/// Fails if the workload is not well formed, cannot end, or cannot run on the system as asked.
sim::Result<ReplayResult> run(const ReplayJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
