// Kernels made of tiles: each workgroup walks along its slabs, and computes on one while the next ones are
// loaded.
//
// There is one event per slab, at the moment when its computation can begin: its data has arrived and the
// previous slab is done. At that event the matrix unit is reserved, and the load that takes the place of the
// previous slab is issued. So every reservation is made when it happens.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "gpu/kernel/kernel.h"
#include "gpu/sm/core.h"
#include "gpu/sm/launch.h"
#include "sim/event_queue.h"
#include "sim/pool.h"

namespace infold::gpu {

/// Converts clocks to time.
inline sim::Time clocks(double n, sim::Frequency f) {
  return sim::Time::ps(std::llround(n * 1e12 / static_cast<double>(f.count_hz())));
}

class TileLoop : public Kernel, public sim::Handler {
 public:
  static constexpr int kMostStages = 6;

  struct Workgroup {
    int index = 0;
    int sm = 0;
    int slab = 0;   ///< the next slab to compute
    int slabs = 0;  ///< slabs of its loop
    std::int64_t first_slab = 0;
    std::int64_t row = 0;  ///< where its tile begins
    std::int64_t col = 0;
    std::int64_t from = 0;  ///< from which row of the operand, see Operand
    std::int64_t to = 0;
    std::array<sim::Time, kMostStages> ready{};
    bool stored = false;
  };
  /// The cost of one slab inside the SM.
  struct Pace {
    sim::Time matrix;      ///< time of the matrix unit or of shared memory, whichever is longer
    sim::Time issue;       ///< time in which the matrix unit is idle for all workgroups
    sim::Time sync;        ///< time in which it is idle for this workgroup only
    sim::Time load_port;   ///< time of the port for bytes into the SM
    sim::Time store_port;  ///< time of the port for the whole tile out of the SM
  };

 protected:
  TileLoop(Core& core, Actor actor, int stages) : core_(core), actor_(actor), stages_(stages) {}

  /// Fills in the work of the workgroup.
  virtual void assign(Workgroup& w) = 0;
  /// When the data of a slab, if asked for now, is at the port of the SM.
  virtual sim::Time load(Workgroup& w, int slab, sim::Time now) = 0;
  /// When the memory system has taken its tile, if it is stored now.
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
  sim::Pool<Workgroup> resident_;
};

}  // namespace infold::gpu
