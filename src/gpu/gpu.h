// One GPU: its memory, its communication workgroups, and its ports on the fabric.
#pragma once

#include <memory>
#include <vector>

#include "gpu/gpu_spec.h"
#include "gpu/memory.h"
#include "gpu/move.h"
#include "gpu/mover.h"
#include "gpu/signals.h"
#include "net/network.h"
#include "net/payloads.h"

namespace infold::gpu {

class Gpu final : public net::Endpoint {
 public:
  Gpu(net::NodeId id, const GpuSpec& spec, sim::EventQueue& events, net::Network& network, MoveTable& moves,
      SignalTable& signals, net::Payloads* payloads);

  /// A workgroup for communication, which owns an SM until it is released.
  /// Requires: fewer than spec().sms are taken.
  Mover& take_workgroup(sim::Bytes window, sim::Bytes burst);
  /// Requires: everything it moved has been acknowledged.
  void release_workgroup(Mover& mover);

  /// Writes a flag into another GPU's memory (or this one's).
  void signal(SignalId signal, net::NodeId to, std::uint32_t sender);

  net::NodeId id() const { return id_; }
  const GpuSpec& spec() const { return spec_; }
  const Memory& memory() const { return memory_; }
  int workgroups() const { return taken_; }

 private:
  static constexpr std::uint32_t kFlagBytes = 8;
  sim::Time receive(const net::Packet& packet) override;
  void expect(const net::Packet& packet) override;
  void departed(const net::Packet& packet) override;

  net::NodeId id_;
  const GpuSpec& spec_;
  sim::EventQueue& events_;
  net::Network& network_;
  MoveTable& moves_;
  SignalTable& signals_;
  net::Payloads* payloads_;
  Memory memory_;
  std::vector<std::unique_ptr<Mover>> workgroups_;  // by sender; null where one was released
  int taken_ = 0;
};

}  // namespace infold::gpu
