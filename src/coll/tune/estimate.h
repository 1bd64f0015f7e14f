// Estimates how long a program will take, from the machine's figures alone. `auto` chooses by this.
//
// The steps are simulated slice by slice in order of time, with the waits that the protocol has, but without
// packets: slices under way share links as a fluid, and latencies are sums over the route. This is a hundred
// times faster than simulating packets. It is exact where only latency or only one link counts, and a few per
// cent off in between.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "coll/program/program.h"
#include "gpu/machine_spec.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"

namespace infold::coll {

class Estimator {
 public:
  /// All three must outlive the estimator; the last two are those of a node.
  Estimator(const gpu::MachineSpec& machine, const net::Blueprint& fabric, const net::Routes& routes)
      : machine_(machine), fabric_(fabric), routes_(routes) {}

  /// The time from the moment the stream reaches the collective to the end of the last rank; `gpus[r]` is
  /// rank r's GPU. Returns never if that is not before `limit`, or as soon as `keep_going` says no.
  sim::Time time(const Program& program, std::span<const int> gpus, sim::Time limit = sim::Time::never(),
                 const std::function<bool()>& keep_going = {}) const;

 private:
  const gpu::MachineSpec& machine_;
  const net::Blueprint& fabric_;
  const net::Routes& routes_;
};

}  // namespace infold::coll
