// The life of a workgroup: the prologue, one event per slab, and the store of its tile.
#include "gpu/kernel/tile_loop.h"

#include <algorithm>

namespace infold::gpu {

void TileLoop::begin(KernelId id, int workgroups) {
  id_ = id;
  begin_at(core_.events().now(), workgroups);
}

void TileLoop::start(int index, int sm) {
  const std::uint32_t slot = resident_.take({.index = index, .sm = sm, .slab = -1});  // -1 is the prologue
  core_.events().schedule(core_.events().now() + core_.spec().sm.workgroup_start, sim::Priority::kWork, *this,
                          slot);
}

void TileLoop::load_into(Workgroup& w, int slab, sim::Time now) {
  Sm& sm = core_.dispatcher().sm(w.sm);
  const sim::Time there = load(w, slab, now);
  sm.load_port_free = sim::max(sm.load_port_free, now) + pace_.load_port;
  w.ready[static_cast<std::size_t>(slab % stages_)] = sim::max(there, sm.load_port_free);
}

void TileLoop::handle(std::uint32_t slot) {
  Workgroup& w = resident_[slot];
  sim::EventQueue& events = core_.events();
  const sim::Time now = events.now();
  Sm& sm = core_.dispatcher().sm(w.sm);
  sim::Time next = now;
  if (w.slab < 0) {
    assign(w);
    w.slab = 0;
    for (int i = 0; i < std::min(stages_ - 1, w.slabs); ++i) load_into(w, i, now);
    // A share of a split product may have nothing to multiply; it stores zeros.
    if (w.slabs > 0) next = sim::max(now, w.ready[0]);
  } else if (w.slab < w.slabs) {
    // The space of the previous slab is free now, because its data has been used.
    if (const int ahead = w.slab + stages_ - 1; ahead < w.slabs) load_into(w, ahead, now);
    const sim::Time start = sim::max(now, sm.matrix_free);
    const sim::Time done = start + pace_.matrix + pace_.issue;
    sm.matrix_free = done;
    ++w.slab;
    next = w.slab < w.slabs ? sim::max(w.ready[static_cast<std::size_t>(w.slab % stages_)], done + pace_.sync)
                            : done + pace_.sync;
  } else if (!w.stored) {
    w.stored = true;
    sm.store_port_free = sim::max(sm.store_port_free, now) + pace_.store_port;
    next = sim::max(store(w, now), sm.store_port_free);
  } else {
    const int at = w.sm;
    resident_.give_back(slot);
    core_.dispatcher().workgroup_done(id_, at);
    return;
  }
  events.schedule(next, sim::Priority::kWork, *this, slot);
}

}  // namespace infold::gpu
