// What the tests of traffic share: a network between mock endpoints that note what happens to them.
#pragma once

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <vector>

#include "fabric_help.h"
#include "net/packet/network.h"
#include "net/topology/fabric_map.h"

namespace infold::net {

using namespace sim::literals;

/// A GPU's ports as a test sees them. Takes packets at once unless told otherwise.
class Station final : public Endpoint {
 public:
  struct Arrival {
    sim::Time at;
    Packet packet;
  };
  explicit Station(sim::EventQueue& events) : events_(events) {}

  sim::Time receive(const Packet& packet) override {
    arrivals.push_back({events_.now(), packet});
    const sim::Time until = hold ? hold(packet) : events_.now();
    if (on_arrival) on_arrival(packet);  // may answer, which may be known of at once
    return until;
  }
  void expect(const Packet& packet) override {
    EXPECT_GE(packet.arrives, events_.now());
    arrivals.push_back({packet.arrives, packet});
    if (on_arrival) on_arrival(packet);
    if (hold) hold(packet);  // control packets are taken at once, whatever it says
  }
  void departed(const Packet& packet) override {
    departed_bytes += packet.payload();
    if (on_departure) on_departure(packet);
  }

  std::uint64_t payload() const {
    std::uint64_t sum = 0;
    for (const Arrival& a : arrivals) sum += a.packet.payload();
    return sum;
  }

  std::vector<Arrival> arrivals;
  std::uint64_t departed_bytes = 0;
  std::function<sim::Time(const Packet&)> hold;  ///< until when a packet keeps its place in the buffer
  std::function<void(const Packet&)> on_arrival;
  std::function<void(const Packet&)> on_departure;

 private:
  sim::EventQueue& events_;
};

/// Does something at a time of its choice.
class Later final : public sim::Handler {
 public:
  explicit Later(std::function<void()> what) : what_(std::move(what)) {}
  void handle(std::uint32_t) override { what_(); }

 private:
  std::function<void()> what_;
};

enum class Cut { kPackets, kBursts };

/// Stations on a fabric.
struct Scene {
  Scene(const FabricSpec& spec, int gpus, Cut cut = Cut::kPackets) : Scene(drawn(spec, gpus), spec, cut) {}

  /// A fabric drawn by hand; of `spec` only interleaving counts.
  Scene(Blueprint by_hand, const FabricSpec& spec, Cut cut = Cut::kPackets)
      : blueprint(std::move(by_hand)),
        routes(routes_of(blueprint)),
        network(events, blueprint, routes, spec, cut == Cut::kPackets) {
    const int gpus = blueprint.gpus;
    for (int gpu = 0; gpu < gpus; ++gpu) {
      stations.emplace_back(events);
      network.attach(static_cast<NodeId>(gpu), stations.back());
    }
  }

  Station& operator[](int gpu) { return stations[static_cast<std::size_t>(gpu)]; }
  const Link& link(int from, int to) const {
    for (const auto& l : network.links()) {
      if (l->from() == from && l->to() == to) return *l;
    }
    ADD_FAILURE() << "no link from " << from << " to " << to;
    return *network.links()[0];
  }
  void send(Packet p, std::uint32_t sender) {
    p.arrives = events.now();
    network.send(p, sender);
  }
  void at(sim::Time when, std::function<void()> what) {
    plans.emplace_back(std::move(what));
    events.schedule(when, sim::Priority::kWork, plans.back(), 0);
  }
  /// Every write is answered, as a GPU answers it.
  void acknowledge_writes() {
    for (Station& s : stations) {
      s.on_arrival = [this](const Packet& p) {
        if (p.kind() != PacketKind::kWrite) return;
        send(Packet::ack(p, events.now()), 0);
      };
    }
  }

  sim::EventQueue events;
  Blueprint blueprint;
  Routes routes;
  Network network;
  std::deque<Station> stations;
  std::deque<Later> plans;
};

/// GPUs on one switch: 40 ps a byte, 100 ns a cable, 50 ns through the switch.
inline FabricSpec one_switch() {
  FabricSpec spec;
  spec.link = {.rate = 25_GBps, .latency = 100_ns, .error_distance = {}};
  spec.switch_chip = {.latency = 50_ns, .buffer = 32_KiB, .speedup = 2};
  return spec;
}
inline constexpr sim::Time kPacketTime = 5'760_ps;  // 128 + 16 bytes
inline constexpr sim::Time kWay = 250_ns;           // two cables and the switch

inline Packet write(int from, int to, int payload = 128, int packets = 1) {
  Packet p;
  p.set_kind(PacketKind::kWrite);
  p.set_source(static_cast<NodeId>(from));
  p.set_destination(static_cast<NodeId>(to));
  p.set_payload(static_cast<std::uint16_t>(payload));
  p.set_packets(static_cast<std::uint16_t>(packets));
  return p;
}
inline Packet signal(int from, int to) {
  Packet p = write(from, to, 8);
  p.set_kind(PacketKind::kSignal);
  return p;
}

}  // namespace infold::net
