// One SM: what is resident on it, and until when its matrix unit and its ports are taken.
#pragma once

#include <algorithm>

#include "gpu/gpu_spec.h"
#include "gpu/launch.h"
#include "sim/units.h"

namespace infold::gpu {

struct Sm {
  int threads_free = 0;
  sim::Bytes shared_free;
  int resident = 0;      ///< workgroups
  bool owned = false;    ///< by one workgroup that shares with nobody
  bool claimed = false;  ///< kept from refilling until a workgroup that needs all of it can have it
  sim::Time matrix_free;
  sim::Time vector_free;
  sim::Time load_port_free;
  sim::Time store_port_free;

  bool fits(const Footprint& f) const {
    if (owned) return false;
    if (f.whole_sm) return resident == 0;
    return !claimed && f.threads <= threads_free && f.shared_memory <= shared_free;
  }
  void take(const Footprint& f) {
    ++resident;
    if (f.whole_sm) {
      owned = true;
      claimed = false;
      return;
    }
    threads_free -= f.threads;
    shared_free -= f.shared_memory;
  }
  void give_back(const Footprint& f) {
    --resident;
    if (f.whole_sm) {
      owned = false;
      return;
    }
    threads_free += f.threads;
    shared_free += f.shared_memory;
  }
};

/// How many workgroups fit what is left of an SM.
inline int room_for(const Footprint& f, int threads, sim::Bytes shared_memory) {
  const std::int64_t by_threads = threads / std::max(f.threads, 1);
  const std::int64_t by_shared =
      f.shared_memory > sim::Bytes{} ? shared_memory.count() / f.shared_memory.count() : by_threads;
  return static_cast<int>(std::min(by_threads, by_shared));
}
/// How many fit an empty SM. None, if one alone is too large.
inline int workgroups_per_sm(const SmSpec& spec, const Footprint& f) {
  return f.whole_sm ? 1 : room_for(f, spec.threads, spec.shared_memory);
}

}  // namespace infold::gpu
