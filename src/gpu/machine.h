// The multi-GPU machine: GPUs on a fabric, and the clock they share.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/machine_spec.h"
#include "inc/switch_units.h"
#include "net/packet/network.h"
#include "sim/event_queue.h"

namespace infold::gpu {

struct MachineOptions {
  sim::Bytes burst;         ///< 0: packet by packet
  bool functional = false;  ///< packets carry values
  bool in_network = false;  ///< switches have reduction units; requires: !check_in_network(spec)
  CoreOptions core{};
};

class Machine {
 public:
  /// The simulator's own memory that a machine may need before it runs.
  static constexpr std::int64_t kMemoryLimit = std::int64_t{2} << 30;

  /// Why this machine can not be built (topology, deadlock, memory), if so.
  static std::optional<sim::Refusal> check(const MachineSpec& spec);

  /// Why this machine's switches can not reduce, if so.
  static std::optional<sim::Refusal> check_in_network(const MachineSpec& spec);

  /// Requires: !check(spec).
  Machine(const MachineSpec& spec, const MachineOptions& options);

  sim::EventQueue& events() { return events_; }
  net::Network& network() { return *network_; }
  const net::Network& network() const { return *network_; }
  /// The switches' reduction units; null without options().in_network.
  inc::SwitchUnits* units() { return units_.get(); }
  const inc::SwitchUnits* units() const { return units_.get(); }
  Gpu& gpu(int id) { return *gpus_[static_cast<std::size_t>(id)]; }
  const Gpu& gpu(int id) const { return *gpus_[static_cast<std::size_t>(id)]; }
  int gpus() const { return static_cast<int>(gpus_.size()); }
  SignalTable& signals() { return signals_; }
  const MachineSpec& spec() const { return spec_; }
  const net::Blueprint& blueprint() const { return blueprint_; }
  const MachineOptions& options() const { return options_; }

  /// Nothing is in flight anywhere: packets, credits, moves.
  bool quiet() const {
    return network_->quiet() && (units_ == nullptr || units_->drained()) && moves_.active() == 0 &&
           payloads_.taken() == 0 && events_.empty();
  }

 private:
  MachineSpec spec_;
  MachineOptions options_;
  net::Blueprint blueprint_;
  sim::EventQueue events_;
  net::Payloads payloads_;
  MoveTable moves_;
  SignalTable signals_{events_};
  std::unique_ptr<net::Network> network_;
  std::unique_ptr<inc::SwitchUnits> units_;
  std::vector<std::unique_ptr<Gpu>> gpus_;
};

}  // namespace infold::gpu
