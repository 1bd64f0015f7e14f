// What the dispatcher must know about a kernel, and what it tells the kernel.
#pragma once

#include <cstdint>

#include "gpu/names.h"
#include "gpu/sm/actor.h"
#include "sim/units.h"

namespace infold::gpu {

using KernelId = std::uint32_t;
using StreamId = std::uint32_t;
using EventId = std::uint32_t;

/// What a workgroup takes of its SM while it is resident.
struct Footprint {
  int threads = 1024;
  sim::Bytes shared_memory;
  sim::Bytes registers;
  bool whole_sm = false;  ///< as for communication workgroups: no other workgroup is on the SM meanwhile
};

/// The work of the workgroups of a kernel. The dispatcher calls it, and finished workgroups are reported to
/// the dispatcher.
class Work {
 public:
  /// The kernel begins; `workgroups` will run: as many as asked for, or fewer with Residency::kFree.
  virtual void begin(KernelId id, int workgroups) = 0;
  /// Workgroup `index` (0, 1, ...) is on an SM from now on, until Dispatcher::workgroup_done.
  virtual void start(int index, int sm) = 0;
  /// All workgroups are done; at most `most_resident` of them ran at the same time.
  virtual void finished(int most_resident) = 0;

 protected:
  ~Work() = default;
};

struct Launch {
  Work* work = nullptr;  ///< outlives the kernel
  int workgroups = 1;    ///< 0 if an engine does the work, from begin to engine_done
  Footprint footprint;
  Actor actor = Actor::kCompute;
  Residency residency = Residency::kAny;
};

}  // namespace infold::gpu
