// One GPU: its memory, its communication workgroups, and its ports on the fabric.
#pragma once

#include <memory>
#include <vector>

#include "gpu/copy/copy_pipeline.h"
#include "gpu/copy/move.h"
#include "gpu/copy/peer_copy_engine.h"
#include "gpu/copy/switch_port.h"
#include "gpu/gpu_spec.h"
#include "gpu/signals.h"
#include "gpu/sm/core.h"
#include "net/fabric.h"
#include "net/packet/payloads.h"

namespace infold::gpu {

class alignas(64) Gpu final : public net::Endpoint {
 public:
  Gpu(net::NodeId id, const GpuSpec& spec, sim::EventQueue& events, net::Fabric& fabric, MoveTable& moves,
      SignalTable& signals, net::Payloads* payloads, const CoreOptions& options, inc::SwitchUnits* units,
      net::NodeId first = 0);

  /// The data path of a communication workgroup, which the dispatcher has given an SM. `network`: the one
  /// that it sends through, where there are several.
  CopyPipeline& take_workgroup(sim::Bytes window, sim::Bytes burst, int network = 0);
  /// Requires: everything that it moved has been acknowledged.
  void release_workgroup(CopyPipeline& pipeline);

  /// The data path of one of the accelerator's state machines. They share its adders.
  CopyPipeline& take_accelerator_path(sim::Bytes window, sim::Bytes burst, int network = 0);
  /// Requires: everything it moved has been acknowledged.
  void release_accelerator_path(CopyPipeline& pipeline) { remove_mover(pipeline); }

  /// One of the engines that copy to other GPUs; the index wraps around. Every network has engines of its
  /// own.
  PeerCopyEngine& copy_engine(std::size_t index, sim::Bytes burst, int network = 0);

  /// Writes a flag into another GPU's memory (or this one's).
  void signal(SignalId signal, net::NodeId to, std::uint32_t sender);

  net::NodeId id() const { return id_; }
  const GpuSpec& spec() const { return spec_; }
  Core& core() { return core_; }
  const MemorySystem& memory() const { return core_.memory(); }
  const PerActor<sim::Time>& sm_time() const { return core_.sm_time(); }
  /// Requires: switches have units.
  SwitchPort& switch_port() { return *switch_port_; }
  const SwitchPort& switch_port() const { return *switch_port_; }
  /// The streams on which collectives run: the first of them, unless several are to run at once. `above` is
  /// added to their priority when the stream is asked for the first time.
  StreamId communication_stream(std::size_t index, int above = 0) {
    return stream_of(communication_streams_, index, above);
  }
  /// Streams of the short kernels that add for copy engines.
  StreamId adding_stream(std::size_t index) { return stream_of(adding_streams_, index, 0); }
  int workgroups() const { return taken_; }

 private:
  sim::Time receive(const net::Packet& packet) override;
  void expect(const net::Packet& packet) override;
  bool expect_data(const net::Packet& packet) override;
  sim::Time take_in(const net::Packet& packet) override;
  void departed(const net::Packet& packet) override;

  void acknowledge(const net::Packet& packet, sim::Time at);
  void give_values(const Move& move, const net::Packet& packet);
  CopyPipeline& add_mover(CopyPipeline::Setup setup, int network);
  void remove_mover(CopyPipeline& pipeline);
  StreamId stream_of(std::vector<StreamId>& streams, std::size_t index, int above);
  sim::Time poll_of(SignalId signal) const;

  // What every packet touches is one cache line.
  net::NodeId id_;
  net::NodeId first_;  // the GPU that the fabric, which is that of a node, calls 0
  const GpuSpec& spec_;
  sim::EventQueue& events_;
  net::Fabric& fabric_;
  MoveTable& moves_;
  SignalTable& signals_;
  net::Payloads* payloads_;
  Core core_;
  std::unique_ptr<SwitchPort> switch_port_;  // null if switches have no units
  int priority_;                             // of the communication streams
  std::vector<StreamId> communication_streams_;
  std::vector<StreamId> adding_streams_;
  std::vector<std::unique_ptr<CopyPipeline>> pipelines_;  // indexed by sender; null where one was released
  std::vector<std::unique_ptr<PeerCopyEngine>> copy_engines_;  // made when first asked for
  CopyPipeline::Port accelerator_port_;
  int taken_ = 0;
};

}  // namespace infold::gpu
