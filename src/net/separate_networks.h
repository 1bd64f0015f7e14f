// Several equal networks that look like one fabric: what is sent through one of them meets nothing that is
// sent through another. This is what would be if groups of senders shared no links and no switches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/fabric.h"

namespace infold::net {

class SeparateNetworks final : public Fabric {
 public:
  /// Requires: at least one network, and all are alike.
  explicit SeparateNetworks(std::vector<std::unique_ptr<Fabric>> networks);
  ~SeparateNetworks() override;

  /// The endpoint is told of data by an event of its own, never ahead of time: data of several networks would
  /// have to be put in order.
  Port& attach(NodeId gpu, Endpoint& endpoint) override;
  /// The sender says which network it uses (Fabric::through).
  void send(const Packet& packet, std::uint32_t sender) override;
  /// An acknowledgement goes back through the network from which an endpoint has just got the data.
  void send_ack(const Packet& packet) override;
  void send_to_unit(Packet packet, std::uint32_t sender) override;
  SwitchFabric& switches() override;
  std::vector<SwitchFabric*> all_switches() override;
  bool quiet() const override;
  void start_anew() override;
  std::vector<std::string> who_waits() const override;

  /// Of all networks together.
  LinkCounters counters(LinkId link) const override;
  std::uint64_t packets_sent() const override;
  std::uint64_t packets_delivered() const override;
  std::uint64_t packet_hops() const override;
  std::uint64_t payload_sent(NodeId gpu) const override;
  std::uint64_t payload_received(NodeId gpu) const override;

 private:
  class Inlet;
  class NothingKept;

  std::vector<std::unique_ptr<Fabric>> networks_;
  std::vector<std::unique_ptr<Inlet>> inlets_;
  std::vector<std::unique_ptr<NothingKept>> ports_;
  std::size_t from_ = 0;  // the network that an endpoint is being told of
};

}  // namespace infold::net
