// Kernels made of tiles: each workgroup walks along its slabs, computing on one while the next are on their
// way.
//
// One event a slab, at the moment its computing can begin: its data have arrived and the slab before is done.
// There the matrix unit is reserved, and the load that takes the place of the slab before is issued. So every
// reservation is made when it happens.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpu/kernel/kernel.h"
#include "gpu/sm/core.h"
#include "gpu/sm/launch.h"
#include "sim/event_queue.h"

namespace infold::gpu {

/// Clocks as time.
inline sim::Time clocks(double n, sim::Frequency f) {
  return sim::Time::ps(std::llround(n * 1e12 / static_cast<double>(f.count_hz())));
}

class TileLoop : public Kernel, public sim::Handler {
 public:
  static constexpr int kMostStages = 6;

  struct Workgroup {
    int index = 0;
    int sm = 0;
    int slab = 0;   ///< the next to compute
    int slabs = 0;  ///< of its loop
    std::int64_t first_slab = 0;
    std::int64_t row = 0;  ///< where its tile begins
    std::int64_t col = 0;
    std::int64_t from = 0;  ///< of the operand's rows, see Operand
    std::int64_t to = 0;
    std::array<sim::Time, kMostStages> ready{};
    bool stored = false;
  };
  /// What one slab costs inside the SM.
  struct Pace {
    sim::Time matrix;      ///< the matrix unit is busy, or shared memory, whichever is longer
    sim::Time issue;       ///< and stands still for all
    sim::Time sync;        ///< and for this workgroup only
    sim::Time load_port;   ///< bytes into the SM
    sim::Time store_port;  ///< of the whole tile, out of it
  };

 protected:
  TileLoop(Core& core, Actor actor, int stages) : core_(core), actor_(actor), stages_(stages) {}

  /// Fills in what the workgroup has to do.
  virtual void assign(Workgroup& w) = 0;
  /// When the data of a slab, asked for now, are at the SM's port.
  virtual sim::Time load(Workgroup& w, int slab, sim::Time now) = 0;
  /// When its tile, stored now, has been taken by the memory system.
  virtual sim::Time store(Workgroup& w, sim::Time now) = 0;

  Core& core_;
  Actor actor_;
  int stages_;
  Pace pace_;

 private:
  void begin(KernelId id, int workgroups) override;
  void start(int index, int sm) override;
  void finished(int most_resident) override { end_at(core_.events().now(), most_resident); }
  void handle(std::uint32_t slot) override;
  void load_into(Workgroup& w, int slab, sim::Time now);

  KernelId id_ = 0;
  std::vector<Workgroup> resident_;
  std::vector<std::uint32_t> free_;
};

}  // namespace infold::gpu
