// How long a program will take, about, from the machine's figures alone: what `auto` chooses by.
//
// The steps are walked slice by slice, with the waits that the protocol has, but without packets: a workgroup
// gets its fair share of every link on its way, and latencies are sums over the way. A thousand times faster
// than simulating; exact where nothing but latency or one link counts, and a few per cent off in between.
#pragma once

#include <span>
#include <vector>

#include "coll/program.h"
#include "gpu/machine_spec.h"
#include "net/blueprint.h"
#include "net/routes.h"

namespace infold::coll {

class Estimator {
 public:
  /// All three must outlive it.
  Estimator(const gpu::MachineSpec& machine, const net::Blueprint& fabric, const net::Routes& routes);

  /// From the stream's reaching the collective to the last rank's end; `gpus[r]` is rank r's GPU.
  sim::Time time(const Program& program, std::span<const int> gpus) const;

 private:
  /// The share of a flow that crosses a link.
  struct Crossing {
    net::LinkId link;
    double share;
  };
  struct Way {
    std::vector<Crossing> crossings;
    sim::Time latency;
  };
  class Walk;
  Way way(int from, int to) const;

  const gpu::MachineSpec& machine_;
  const net::Blueprint& fabric_;
  const net::Routes& routes_;
};

}  // namespace infold::coll
