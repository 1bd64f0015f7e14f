// A kernel: what it requires from the dispatcher, and what it computes and moves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gpu/sm/launch.h"
#include "sim/units.h"

namespace infold::gpu {

class Kernel : public Work {
 public:
  virtual ~Kernel() = default;
  virtual Launch launch() = 0;
  /// The number of mathematical operations, without the extra work at the edges of tiles.
  virtual double flops() const = 0;
  sim::Time began_at() const { return began_; }
  sim::Time ended_at() const { return ended_; }
  /// The number of workgroups that ran.
  int grid() const { return grid_; }
  /// The number of workgroups divided by how many ran at the same time.
  int waves() const { return (grid_ + most_resident_ - 1) / most_resident_; }

 protected:
  void begin_at(sim::Time now, int workgroups) {
    began_ = now;
    grid_ = workgroups;
  }
  void end_at(sim::Time now, int most_resident) {
    ended_ = now;
    most_resident_ = most_resident;
  }

 private:
  sim::Time began_;
  sim::Time ended_;
  int grid_ = 0;
  int most_resident_ = 1;
};

}  // namespace infold::gpu
