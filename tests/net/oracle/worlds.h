// The two networks that are compared, each as a load sees it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "load.h"
#include "net/packet/network.h"
#include "network.h"
#include "unit_load.h"

namespace infold::net::oracle {

/// What GPUs and units do.
struct Loads {
  Loads(const Machine& machine, std::uint64_t seed, bool bursts) : plain(machine, seed) {
    if (machine.in_network.units) units.emplace(machine, seed, bursts);
  }
  void begin(World& world) {
    plain.begin(world);
    if (units) units->begin(world);
  }
  sim::Time at_gpu(World& world, const Packet& p) {
    return p.kind() < PacketKind::kReduceWrite ? plain.arrives(world, p) : units->at_gpu(world, p);
  }
  /// By time and place, whatever the order in which they were told.
  std::vector<Delivery> sorted() const {
    std::vector<Delivery> all = plain.deliveries;
    if (units) all.insert(all.end(), units->deliveries.begin(), units->deliveries.end());
    std::ranges::sort(all);
    return all;
  }

  Load plain;
  std::optional<UnitLoad> units;
};

class ReferenceWorld final : public World {
 public:
  ReferenceWorld(const Machine& machine, bool bursts, Loads& loads)
      : network_(clock_, machine.blueprint, machine.in_network, bursts), loads_(loads) {
    for (Ports& ports : network_.ports)
      ports.arrived = [this](const Packet& p) { return loads_.at_gpu(*this, p); };
    for (NodeId chip = machine.blueprint.gpus; chip < machine.blueprint.nodes(); ++chip) {
      UnitPorts& unit = network_.units[index_of(chip)];
      unit.arrived = [this](const Packet& p, LinkId in) {
        if (class_of(p.kind()) == PacketClass::kControl) return loads_.units->expect(*this, p);
        loads_.units->at_unit(*this, p, in);
      };
      unit.departed = [this, chip](const Packet& p, sim::Time end) {
        loads_.units->departed(*this, chip, p, end);
      };
    }
  }
  sim::Time now() const override { return clock_.now(); }
  void at(sim::Time when, std::function<void()> what) override {
    clock_.at(when, Phase::kWork, std::move(what));
  }
  void send(const Packet& packet, std::uint32_t sender) override {
    network_.send(packet, static_cast<int>(sender));
  }
  void send_ack(const Packet& packet) override { network_.send_ack(packet); }
  void send_to_unit(const Packet& packet, std::uint32_t sender) override {
    network_.send_to_unit(packet, static_cast<int>(sender));
  }
  void unit_send(const Packet& packet, LinkId out) override { network_.unit_send(packet, out); }
  void unit_send_routed(const Packet& packet, NodeId chip) override {
    network_.unit_send_routed(packet, chip);
  }
  void release(const Packet& packet, LinkId in, sim::Time at) override { network_.release(packet, in, at); }
  bool run() {
    loads_.begin(*this);
    clock_.run();
    return network_.quiet();
  }

 private:
  Clock clock_;
  ReferenceNetwork network_;
  Loads& loads_;
};

/// How GPUs of the fast network take data in.
enum class TakeIn {
  kPrompt,  ///< with an event each
  kLate,    ///< told on the last link, and taken in as late as credits allow (net/packet/packet_port.h)
};

class FastWorld final : public World {
 public:
  FastWorld(const Machine& machine, bool bursts, TakeIn take_in, Loads& loads)
      : routes_(routes_of(machine.blueprint)),
        network_(events_, machine.blueprint, routes_, machine.spec, !bursts, machine.in_network),
        take_in_(take_in),
        loads_(loads) {
    network_.choose_when_free();
    for (NodeId gpu = 0; gpu < machine.blueprint.gpus; ++gpu) network_.attach(gpu, gpus_.emplace_back(*this));
    if (!machine.in_network.units) return;
    for (NodeId chip = machine.blueprint.gpus; chip < machine.blueprint.nodes(); ++chip)
      network_.attach_unit(chip, units_.emplace_back(*this, chip));
  }
  sim::Time now() const override { return events_.now(); }
  void at(sim::Time when, std::function<void()> what) override {
    events_.schedule(when, sim::Priority::kWork, plans_.emplace_back(std::move(what)), 0);
  }
  void send(const Packet& packet, std::uint32_t sender) override { network_.send(packet, sender); }
  void send_ack(const Packet& packet) override { network_.send_ack(packet); }
  void send_to_unit(const Packet& packet, std::uint32_t sender) override {
    network_.send_to_unit(packet, sender);
  }
  void unit_send(const Packet& packet, LinkId out) override {
    Packet p = packet;
    p.set_destination(network_.links()[out]->to());
    network_.unit_send(p, out);
  }
  void unit_send_routed(const Packet& packet, NodeId chip) override {
    network_.unit_send_routed(packet, chip);
  }
  void release(const Packet& packet, LinkId in, sim::Time at) override { network_.release(packet, in, at); }
  bool run() {
    loads_.begin(*this);
    events_.run();
    return network_.quiet();
  }

 private:
  struct Plan final : sim::Handler {
    explicit Plan(std::function<void()> w) : what(std::move(w)) {}
    void handle(std::uint32_t) override { what(); }
    std::function<void()> what;
  };
  struct Gpu final : Endpoint {
    explicit Gpu(FastWorld& w) : world(w) {}
    sim::Time receive(const Packet& packet) override {
      Packet here = packet;
      EXPECT_LE(packet.arrives, world.now());
      here.arrives = world.now();  // what slipped into a burst is handed over behind it
      return world.loads_.at_gpu(world, here);
    }
    void expect(const Packet& packet) override { world.loads_.at_gpu(world, packet); }
    bool expect_data(const Packet& packet) override {
      if (world.take_in_ == TakeIn::kPrompt || packet.flow() % 4 == 0) return false;
      if (packet.kind() != PacketKind::kWrite) return false;
      free[{packet.flow(), packet.offset()}] = world.loads_.at_gpu(world, packet);  // acks are sent ahead
      return true;
    }
    sim::Time take_in(const Packet& packet) override {
      EXPECT_LE(packet.arrives, world.now());
      return free.extract({packet.flow(), packet.offset()}).mapped();
    }
    void departed(const Packet&) override {}

    FastWorld& world;
    std::map<std::pair<std::uint32_t, std::uint32_t>, sim::Time> free;  // by flow and offset
  };
  struct Unit final : SwitchUnit {
    Unit(FastWorld& w, NodeId c) : world(w), chip(c) {}
    void arrive(const Packet& packet, LinkId in) override { world.loads_.units->at_unit(world, packet, in); }
    void expect(const Packet& packet, LinkId) override { world.loads_.units->expect(world, packet); }
    void departed(const Packet& packet, sim::Time end) override {
      world.loads_.units->departed(world, chip, packet, end);
    }
    FastWorld& world;
    NodeId chip;
  };

  sim::EventQueue events_;
  Routes routes_;
  Network network_;
  TakeIn take_in_;
  Loads& loads_;
  std::deque<Gpu> gpus_;
  std::deque<Unit> units_;
  std::deque<Plan> plans_;
};

}  // namespace infold::net::oracle
