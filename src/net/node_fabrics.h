// The fabrics of a machine of several nodes as one, for those who read its counters: one fabric per node, the
// buses between GPUs and NICs, and the network between nodes. Nothing is sent through it: a GPU sends through
// the fabric of its node, a NIC through the network between nodes.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/fabric.h"

namespace infold::net {

class NodeFabrics final : public Fabric {
 public:
  /// What has crossed the bus of a GPU's NIC, from the GPU (`out`) or to it.
  using BusBytes = std::function<std::uint64_t(NodeId gpu, bool out)>;
  struct Setup {
    const Blueprint* node = nullptr;       ///< what each node is drawn as
    const Blueprint* scale_out = nullptr;  ///< the network between them
    int nodes = 0;
    BusBytes bus;
  };
  /// Requires: the blueprints outlive it; links are numbered as whole_machine() has them
  /// (net/topology/scale_out.h).
  NodeFabrics(std::vector<std::unique_ptr<Fabric>> nodes, std::unique_ptr<Fabric> scale_out, Setup setup);
  ~NodeFabrics() override;

  Fabric& node(int n) { return *nodes_[static_cast<std::size_t>(n)]; }
  Fabric& scale_out() { return *scale_out_; }

  Port& attach(NodeId gpu, Endpoint& endpoint) override;
  void send(const Packet& packet, std::uint32_t sender) override;
  void send_ack(const Packet& packet) override;
  void send_to_unit(Packet packet, std::uint32_t sender) override;
  SwitchFabric& switches() override;
  bool quiet() const override;
  void start_anew() override;
  std::vector<std::string> who_waits() const override;
  LinkCounters counters(LinkId link) const override;
  std::uint64_t packets_sent() const override;
  std::uint64_t packets_delivered() const override;
  std::uint64_t packet_hops() const override;
  /// What a GPU and its NIC have sent.
  std::uint64_t payload_sent(NodeId gpu) const override;
  std::uint64_t payload_received(NodeId gpu) const override;

 private:
  template <class Of>
  std::uint64_t sum(Of of) const;
  const Fabric& of(NodeId gpu) const;

  std::vector<std::unique_ptr<Fabric>> nodes_;
  std::unique_ptr<Fabric> scale_out_;
  Setup setup_;
};

}  // namespace infold::net
