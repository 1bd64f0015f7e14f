// The two networks that are compared, each as a load sees it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "load.h"
#include "net/fabric_help.h"
#include "net/packet/network.h"
#include "network.h"

namespace infold::net::oracle {

class ReferenceWorld final : public World {
 public:
  ReferenceWorld(const Blueprint& blueprint, const FabricSpec& spec, bool bursts, Load& load)
      : network_(clock_, blueprint, spec, bursts), load_(load) {
    for (Ports& ports : network_.ports)
      ports.arrived = [this](const Packet& p) { return load_.arrives(*this, p); };
  }
  sim::Time now() const override { return clock_.now(); }
  void at(sim::Time when, std::function<void()> what) override {
    clock_.at(when, Phase::kWork, std::move(what));
  }
  void send(const Packet& packet, std::uint32_t sender) override {
    network_.send(packet, static_cast<int>(sender));
  }
  void send_ack(const Packet& packet) override { network_.send_ack(packet); }
  bool run() {
    load_.begin(*this);
    clock_.run();
    return network_.quiet();
  }

 private:
  Clock clock_;
  ReferenceNetwork network_;
  Load& load_;
};

/// How GPUs of the fast network take data in.
enum class TakeIn {
  kPrompt,  ///< with an event each
  kLate,    ///< told on the last link, and taken in as late as credits allow (net/packet/packet_port.h)
};

class FastWorld final : public World {
 public:
  FastWorld(const Blueprint& blueprint, const FabricSpec& spec, bool bursts, TakeIn take_in, Load& load)
      : routes_(routes_of(blueprint)),
        network_(events_, blueprint, routes_, spec, !bursts),
        take_in_(take_in),
        load_(load) {
    network_.choose_when_free();
    for (int gpu = 0; gpu < blueprint.gpus; ++gpu)
      network_.attach(static_cast<NodeId>(gpu), gpus_.emplace_back(*this));
  }
  sim::Time now() const override { return events_.now(); }
  void at(sim::Time when, std::function<void()> what) override {
    events_.schedule(when, sim::Priority::kWork, plans_.emplace_back(std::move(what)), 0);
  }
  void send(const Packet& packet, std::uint32_t sender) override { network_.send(packet, sender); }
  void send_ack(const Packet& packet) override { network_.send_ack(packet); }
  bool run() {
    load_.begin(*this);
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
      EXPECT_EQ(packet.arrives, world.now());
      return world.load_.arrives(world, packet);
    }
    void expect(const Packet& packet) override { world.load_.arrives(world, packet); }
    bool expect_data(const Packet& packet) override {
      if (world.take_in_ == TakeIn::kPrompt || packet.flow % 4 == 0) return false;
      free[{packet.flow, packet.offset}] = world.load_.arrives(world, packet);  // acks are sent ahead
      return true;
    }
    sim::Time take_in(const Packet& packet) override {
      EXPECT_LE(packet.arrives, world.now());
      return free.extract({packet.flow, packet.offset}).mapped();
    }
    void departed(const Packet&) override {}

    FastWorld& world;
    std::map<std::pair<std::uint32_t, std::uint32_t>, sim::Time> free;  // by flow and offset
  };

  sim::EventQueue events_;
  Routes routes_;
  Network network_;
  TakeIn take_in_;
  Load& load_;
  std::deque<Gpu> gpus_;
  std::deque<Plan> plans_;
};

}  // namespace infold::net::oracle
