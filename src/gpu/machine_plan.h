// A machine that is known to work, before it is built: spec, blueprint, routes, and the proof that nothing in
// it can deadlock. Everything that needs one of these takes a plan, so that nothing is drawn or proved twice.
#pragma once

#include <memory>

#include "gpu/machine_spec.h"
#include "net/topology/blueprint.h"
#include "net/topology/routes.h"
#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::gpu {

/// A value that is cheap to copy: copies share their contents, which never change.
class MachinePlan {
 public:
  /// The simulator's own memory that a machine may need before it runs.
  static constexpr std::int64_t kMemoryLimit = std::int64_t{2} << 30;

  /// The only way to have one. Fails if the machine cannot be built (topology, packets, memory), if it could
  /// deadlock, or when `go_on` says no.
  static sim::Result<MachinePlan> make(const MachineSpec& spec, const sim::GoOn& go_on = {});

  const MachineSpec& spec() const { return contents_->spec; }
  const net::Blueprint& blueprint() const { return contents_->blueprint; }
  const net::Routes& routes() const { return contents_->routes; }

  /// Whether this machine's switches can reduce, and if not, why.
  const sim::Status& in_network() const { return contents_->in_network; }

 private:
  struct Contents {
    MachineSpec spec;
    net::Blueprint blueprint;
    net::Routes routes;
    sim::Status in_network;
  };
  explicit MachinePlan(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

}  // namespace infold::gpu
