// The multi-GPU machine: GPUs on a fabric, and the clock they share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/machine_plan.h"
#include "gpu/nic/nic.h"
#include "gpu/nic/proxy.h"
#include "inc/switch_units.h"
#include "net/fabric.h"
#include "net/topology/fabric_map.h"
#include "sim/event_queue.h"

namespace infold::gpu {

struct MachineOptions {
  sim::Bytes burst;         ///< 0 means packet by packet
  bool functional = false;  ///< packets carry values
  bool in_network = false;  ///< switches have reduction units; requires: MachinePlan::in_network()
  CoreOptions core{};
  int networks = 1;  ///< equal ones; communicator n uses the one of number n
};

class Machine {
 public:
  /// Requires: plan.in_network() passed, if switches are to reduce.
  Machine(const MachinePlan& plan, const MachineOptions& options);

  sim::EventQueue& events() { return events_; }
  net::Fabric& network() { return *network_; }
  const net::Fabric& network() const { return *network_; }
  const net::FabricMap& map() const { return map_; }
  /// The switches' reduction units; null without options().in_network.
  inc::SwitchUnits* units() { return units_.get(); }
  const inc::SwitchUnits* units() const { return units_.get(); }
  Gpu& gpu(int id) { return *gpus_[static_cast<std::size_t>(id)]; }
  const Gpu& gpu(int id) const { return *gpus_[static_cast<std::size_t>(id)]; }
  int gpus() const { return static_cast<int>(gpus_.size()); }
  /// Requires: there are several nodes.
  Nic& nic(int gpu) { return *nics_[static_cast<std::size_t>(gpu)]; }
  Proxy& proxy(int gpu) { return proxies_[static_cast<std::size_t>(gpu)]; }
  SignalTable& signals() { return signals_; }
  const MachinePlan& plan() const { return plan_; }
  const MachineSpec& spec() const { return plan_.spec(); }
  const net::Blueprint& blueprint() const { return plan_.blueprint(); }
  const MachineOptions& options() const { return options_; }

  /// Whether nothing is in flight anywhere: no packet, credit or move.
  bool quiet() const {
    return network_->quiet() && (units_ == nullptr || units_->drained()) && moves_.active() == 0 &&
           payloads_.taken() == 0 && messages_.used() == 0 && events_.empty();
  }

 private:
  MachinePlan plan_;
  MachineOptions options_;
  sim::EventQueue events_;
  net::Payloads payloads_;
  MoveTable moves_;
  Nic::Table messages_;
  SignalTable signals_{events_};
  net::FabricMap map_;
  std::unique_ptr<net::Fabric> network_;
  std::unique_ptr<inc::SwitchUnits> units_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
  std::vector<std::unique_ptr<Nic>> nics_;  // by GPU; none if there is one node
  std::vector<Proxy> proxies_;              // likewise

  void build_nodes(const std::vector<net::Fabric*>& fabrics, net::Fabric& scale_out);
};

}  // namespace infold::gpu
