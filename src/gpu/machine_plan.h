// A machine that is known to work, before it is built: spec, blueprint, routes, and the proof that nothing in
// it can deadlock. Everything that needs one of these takes a plan, so that nothing is drawn or proved twice.
#pragma once

#include <memory>
#include <optional>

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

  /// The network between nodes. Its endpoints are the NICs, which have the numbers of their GPUs.
  struct ScaleOut {
    net::Blueprint blueprint;
    net::Routes routes;
    net::Blueprint machine;  ///< all nodes and this network as one drawing
  };

  const MachineSpec& spec() const { return contents_->spec; }
  /// The whole machine, for those who count its links or draw it.
  const net::Blueprint& blueprint() const {
    return contents_->scale_out ? contents_->scale_out->machine : contents_->node;
  }
  /// One node, and the ways within it, where its first GPU is number 0. All nodes are alike.
  const net::Blueprint& node() const { return contents_->node; }
  const net::Routes& routes() const { return contents_->routes; }
  int nodes() const { return contents_->spec.nodes; }
  /// Null if there is one node only.
  const ScaleOut* scale_out() const { return contents_->scale_out ? &*contents_->scale_out : nullptr; }
  /// The links on the way from one GPU of the machine to another.
  int links_between(int from, int to) const;

  /// Whether this machine's switches can reduce, and if not, why.
  const sim::Status& in_network() const { return contents_->in_network; }

 private:
  struct Contents {
    MachineSpec spec;
    net::Blueprint node;
    net::Routes routes;
    sim::Status in_network;
    std::optional<ScaleOut> scale_out;
  };
  static sim::Result<ScaleOut> draw_scale_out(const MachineSpec& spec, const net::Blueprint& node,
                                              const sim::GoOn& go_on);
  explicit MachinePlan(std::shared_ptr<const Contents> contents) : contents_(std::move(contents)) {}

  std::shared_ptr<const Contents> contents_;
};

}  // namespace infold::gpu
