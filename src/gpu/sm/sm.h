// One SM: what is resident on it, and until when its matrix unit and its ports are busy.
#pragma once

#include <algorithm>

#include "gpu/gpu_spec.h"
#include "gpu/sm/launch.h"
#include "sim/units.h"

namespace infold::gpu {

struct Sm {
  int threads_free = 0;
  sim::Bytes shared_free;
  sim::Bytes registers_free;
  int resident = 0;      ///< workgroups that are resident
  bool owned = false;    ///< one workgroup has the whole SM
  bool claimed = false;  ///< not refilled until a workgroup that needs all of it can have it
  sim::Time matrix_free;
  sim::Time vector_free;
  sim::Time load_port_free;
  sim::Time store_port_free;

  bool fits(const Footprint& f) const {
    if (owned) return false;
    if (f.whole_sm) return resident == 0;
    return !claimed && f.threads <= threads_free && f.shared_memory <= shared_free &&
           f.registers <= registers_free;
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
    registers_free -= f.registers;
  }
  void give_back(const Footprint& f) {
    --resident;
    if (f.whole_sm) {
      owned = false;
      return;
    }
    threads_free += f.threads;
    shared_free += f.shared_memory;
    registers_free += f.registers;
  }
};

/// How many workgroups fit that part of an SM; 0 if one alone is too large.
inline int room_for(const Footprint& f, int threads, sim::Bytes shared_memory, sim::Bytes registers) {
  std::int64_t room = threads / std::max(f.threads, 1);
  const auto limit = [&room](sim::Bytes each, sim::Bytes all) {
    if (each > sim::Bytes{}) room = std::min(room, all.count() / each.count());
  };
  limit(f.shared_memory, shared_memory);
  limit(f.registers, registers);
  return static_cast<int>(room);
}
inline int room_for(const Footprint& f, const Sm& sm) {
  return room_for(f, sm.threads_free, sm.shared_free, sm.registers_free);
}
inline int workgroups_per_sm(const SmSpec& spec, const Footprint& f) {
  return f.whole_sm ? 1 : room_for(f, spec.threads, spec.shared_memory, spec.registers);
}

}  // namespace infold::gpu
