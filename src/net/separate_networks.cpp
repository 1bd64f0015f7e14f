// Passes each call on to the network that it concerns, or to all.
#include "net/separate_networks.h"

#include <algorithm>
#include <utility>

namespace infold::net {

namespace {
FabricTraits traits_of(const std::vector<std::unique_ptr<Fabric>>& networks) {
  FabricTraits traits = networks.front()->traits();
  traits.networks = static_cast<int>(networks.size());
  return traits;
}
std::size_t network_of(std::uint32_t sender) {
  return sender / Fabric::kSendersOfNetwork;
}
}  // namespace

/// A GPU as one of the networks sees it.
class SeparateNetworks::Inlet final : public Endpoint {
 public:
  Inlet(SeparateNetworks& all, std::size_t network, Endpoint& endpoint)
      : all_(all), network_(network), endpoint_(endpoint) {}

  sim::Time receive(const Packet& packet) override {
    const std::size_t before = std::exchange(all_.from_, network_);
    const sim::Time freed = endpoint_.receive(packet);
    all_.from_ = before;
    return freed;
  }
  void expect(const Packet& packet) override {
    const std::size_t before = std::exchange(all_.from_, network_);
    endpoint_.expect(packet);
    all_.from_ = before;
  }
  void departed(const Packet& packet) override {
    const std::size_t before = std::exchange(all_.from_, network_);
    endpoint_.departed(packet);
    all_.from_ = before;
  }

 private:
  SeparateNetworks& all_;
  std::size_t network_;
  Endpoint& endpoint_;
};

/// The port of a GPU to which nothing is handed over late.
class SeparateNetworks::NothingKept final : public Port {
 private:
  void hand_over(sim::Time) override {}
};

SeparateNetworks::SeparateNetworks(std::vector<std::unique_ptr<Fabric>> networks)
    : Fabric(traits_of(networks)), networks_(std::move(networks)) {}

SeparateNetworks::~SeparateNetworks() = default;

Port& SeparateNetworks::attach(NodeId gpu, Endpoint& endpoint) {
  for (std::size_t n = 0; n < networks_.size(); ++n) {
    inlets_.push_back(std::make_unique<Inlet>(*this, n, endpoint));
    networks_[n]->attach(gpu, *inlets_.back());
  }
  return *ports_.emplace_back(std::make_unique<NothingKept>());
}

void SeparateNetworks::send(const Packet& packet, std::uint32_t sender) {
  networks_[network_of(sender)]->send(packet, sender % kSendersOfNetwork);
}

void SeparateNetworks::send_ack(const Packet& packet) {
  networks_[from_]->send_ack(packet);
}

void SeparateNetworks::send_to_unit(Packet packet, std::uint32_t sender) {
  networks_[network_of(sender)]->send_to_unit(packet, sender % kSendersOfNetwork);
}

SwitchFabric& SeparateNetworks::switches() {
  return networks_.front()->switches();
}

std::vector<SwitchFabric*> SeparateNetworks::all_switches() {
  std::vector<SwitchFabric*> all;
  for (const auto& n : networks_) all.push_back(&n->switches());
  return all;
}

bool SeparateNetworks::quiet() const {
  return std::ranges::all_of(networks_, [](const auto& n) { return n->quiet(); });
}

void SeparateNetworks::start_anew() {
  for (const auto& n : networks_) n->start_anew();
}

std::vector<std::string> SeparateNetworks::who_waits() const {
  std::vector<std::string> lines;
  for (const auto& n : networks_) {
    for (std::string& line : n->who_waits()) lines.push_back(std::move(line));
  }
  return lines;
}

LinkCounters SeparateNetworks::counters(LinkId link) const {
  LinkCounters sum;
  for (const auto& n : networks_) {
    const LinkCounters c = n->counters(link);
    sum.wire_bytes += c.wire_bytes;
    sum.packets += c.packets;
    sum.replays += c.replays;
    sum.in_flight += c.in_flight;
  }
  return sum;
}

std::uint64_t SeparateNetworks::packets_sent() const {
  std::uint64_t sum = 0;
  for (const auto& n : networks_) sum += n->packets_sent();
  return sum;
}

std::uint64_t SeparateNetworks::packets_delivered() const {
  std::uint64_t sum = 0;
  for (const auto& n : networks_) sum += n->packets_delivered();
  return sum;
}

std::uint64_t SeparateNetworks::packet_hops() const {
  std::uint64_t sum = 0;
  for (const auto& n : networks_) sum += n->packet_hops();
  return sum;
}

std::uint64_t SeparateNetworks::payload_sent(NodeId gpu) const {
  std::uint64_t sum = 0;
  for (const auto& n : networks_) sum += n->payload_sent(gpu);
  return sum;
}

std::uint64_t SeparateNetworks::payload_received(NodeId gpu) const {
  std::uint64_t sum = 0;
  for (const auto& n : networks_) sum += n->payload_received(gpu);
  return sum;
}

}  // namespace infold::net
