// The port between a GPU's links and the GPU: what is handed over when, and in which order. The test plays
// the links, which announce packets, and the GPU, which takes them in.
#include "net/packet/packet_port.h"

#include <gtest/gtest.h>

#include <vector>

#include "fabric_help.h"
#include "net/packet/network.h"

namespace infold::net {
namespace {

using namespace sim::literals;

constexpr sim::Time kLatency = 100_ns;
constexpr NodeId kHere = 1;

FabricSpec fabric_with(int lanes) {
  FabricSpec spec;
  spec.links_per_plane = {lanes};
  spec.link.latency = kLatency;
  return spec;
}

/// Notes which packets it is handed, and when. Packets of odd flows are observed.
class Gpu final : public Endpoint {
 public:
  struct Seen {
    std::uint32_t offset;
    sim::Time told;
    bool operator==(const Seen&) const = default;
  };
  explicit Gpu(sim::EventQueue& events) : events_(events) {}
  sim::Time receive(const Packet&) override { return events_.now(); }
  void expect(const Packet&) override {}
  bool expect_data(const Packet& p) override { return p.flow() % 2 == 0; }
  sim::Time take_in(const Packet& p) override {
    seen.push_back({p.offset(), events_.now()});
    if (port != nullptr) port->catch_up(p.arrives);  // as its memory does before every write
    return p.arrives;
  }
  void departed(const Packet&) override {}
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> offsets;
    for (const Seen& s : seen) offsets.push_back(s.offset);
    return offsets;
  }
  std::vector<Seen> seen;
  Port* port = nullptr;

 private:
  sim::EventQueue& events_;
};

struct Desk {
  explicit Desk(int lanes = 4, bool packet_by_packet = true)
      : blueprint(drawn(fabric_with(lanes), 2)),
        routes(routes_of(blueprint)),
        network(events, blueprint, routes, fabric_with(lanes), packet_by_packet),
        port(events, network, lanes, kLatency) {
    for (Link* link : network.links()) {
      if (link->to() == kHere) links.push_back(link);
    }
    port.attach(gpu);
  }
  /// Data that will arrive by that lane. Returns whether the port keeps it.
  bool announce(int lane, sim::Time arrives, std::uint32_t offset, std::uint32_t flow = 0) {
    Packet p;
    p.set_kind(PacketKind::kWrite);
    p.set_flow(flow);
    p.set_offset(offset);
    p.set_payload(16);
    p.set_destination(kHere);
    p.set_channel(1);
    p.arrives = arrives;
    return port.lets_data_wait() && port.expect_data(p, *links[static_cast<std::size_t>(lane)]);
  }

  sim::EventQueue events;
  Blueprint blueprint;
  Routes routes;
  Network network;
  PacketPort port;
  Gpu gpu{events};
  std::vector<Link*> links;
};
using Offsets = std::vector<std::uint32_t>;

TEST(PacketPort, LetsDataWaitPacketByPacketAndOfNoMoreLinksThanItTellsApart) {
  EXPECT_TRUE(Desk(1).announce(0, 10_ns, 0));
  EXPECT_TRUE(Desk(32).announce(31, 10_ns, 0));
  EXPECT_FALSE(Desk(33).announce(0, 10_ns, 0));
  EXPECT_FALSE(Desk(4, /*packet_by_packet=*/false).announce(0, 10_ns, 0));
}

TEST(PacketPort, LeavesWhatIsObservedToTheLink) {
  Desk desk;
  EXPECT_FALSE(desk.announce(0, 10_ns, 0, /*flow=*/1));
  desk.events.run();
  EXPECT_TRUE(desk.gpu.seen.empty());
}

TEST(PacketPort, HandsOverInOrderOfArrivalOverAllLinks) {
  Desk desk;
  desk.announce(0, 30_ns, 0);
  desk.announce(0, 50_ns, 16);
  desk.announce(3, 10_ns, 32);
  desk.announce(2, 40_ns, 48);
  desk.announce(3, 20_ns, 64);
  desk.port.catch_up(60_ns);
  EXPECT_EQ(desk.gpu.order(), (Offsets{32, 64, 0, 48, 16}));
}

TEST(PacketPort, OfDataThatArrivesTogetherTheFirstLinkComesFirst) {
  Desk desk;
  desk.announce(3, 10_ns, 0);
  desk.announce(1, 10_ns, 16);
  desk.announce(2, 10_ns, 32);
  desk.port.catch_up(10_ns);
  EXPECT_EQ(desk.gpu.order(), (Offsets{16, 32, 0}));
}

TEST(PacketPort, HandsOverWhatHasArrivedAndNoMore) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(0, 20_ns, 16);
  desk.announce(1, 20'001_ps, 32);
  desk.port.catch_up(20_ns);
  EXPECT_EQ(desk.gpu.order(), (Offsets{0, 16}));
}

TEST(PacketPort, CountsWhatIsTakenIn) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(1, 30_ns, 16);
  EXPECT_EQ(desk.port.payload_received(), 0u);
  desk.port.catch_up(20_ns);
  EXPECT_EQ(desk.port.payload_received(), 16u);
  EXPECT_EQ(desk.network.packets_delivered(), 1u);
}

TEST(PacketPort, KeepsTheTimeOfTheFirstArrivalWhereTheMemoryLooks) {
  Desk desk;
  sim::Time due;
  desk.port.keep_due_in(due);
  EXPECT_EQ(due, sim::Time::never());
  desk.announce(1, 30_ns, 0);
  EXPECT_EQ(due, 30_ns);
  desk.announce(0, 10_ns, 16);
  EXPECT_EQ(due, 10_ns);
  desk.port.catch_up(10_ns);
  EXPECT_EQ(due, 30_ns);
  desk.port.catch_up(30_ns);
  EXPECT_EQ(due, sim::Time::never());
}

TEST(PacketPort, AccessesOfTheOneThatTakesInDoNotAskForMore) {
  Desk desk;
  desk.gpu.port = &desk.port;
  desk.announce(0, 10_ns, 0);
  desk.announce(1, 10_ns, 16);
  desk.port.catch_up(10_ns);
  EXPECT_EQ(desk.gpu.order(), (Offsets{0, 16})) << "each once, in order";
  EXPECT_EQ(desk.network.packets_delivered(), 2u);
}

TEST(PacketPort, HandsOverByItselfWhenTheFirstCreditsAreDue) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(0, 60_ns, 16);
  desk.announce(0, 10_ns + kLatency + 1_ps, 32);
  desk.events.run();
  // The second goes with the first; the third has its own turn.
  EXPECT_EQ(desk.gpu.seen,
            (std::vector<Gpu::Seen>{
                {0, 10_ns + kLatency}, {16, 10_ns + kLatency}, {32, 10_ns + kLatency + 1_ps + kLatency}}));
}

TEST(PacketPort, AnEarlierArrivalOnAnotherLinkIsNotLate) {
  Desk desk;
  desk.announce(0, 50_ns, 0);
  desk.announce(1, 20_ns, 16);
  desk.events.run();
  EXPECT_EQ(desk.gpu.seen.front(), (Gpu::Seen{16, 20_ns + kLatency}));
}

TEST(PacketPort, WhatWasAskedForIsNotHandedOverAgain) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.port.catch_up(15_ns);
  desk.announce(0, 40_ns, 16);
  desk.events.run();
  EXPECT_EQ(desk.gpu.order(), (Offsets{0, 16}));
  EXPECT_EQ(desk.network.packets_delivered(), 2u);
}

}  // namespace
}  // namespace infold::net
