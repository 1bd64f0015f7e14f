// The inbox between a GPU's links and its memory: what is written when, and in which order. The test plays
// the links, which announce packets, and those who asked for the data, who see them being written.
#include "gpu/inbox.h"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <variant>
#include <vector>

#include "net/topology/blueprint.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;

constexpr sim::Time kLatency = 100_ns;
constexpr net::NodeId kHere = 1;

net::FabricSpec fabric_with(int lanes) {
  net::FabricSpec spec;
  spec.links_per_plane = {lanes};
  spec.link.latency = kLatency;
  return spec;
}
GpuSpec plain_memory() {
  GpuSpec s;
  s.clock = 1000_MHz;
  s.l2 = {.capacity = 256_KiB, .copies = 1, .slices = 10, .slice_port = 100_B, .latency = 100_ns};
  return s;
}

/// Notes which bytes of the move are written, and when it is told.
class Listener final : public MoveClient {
 public:
  struct Seen {
    std::uint32_t offset;
    sim::Time told;
    bool operator==(const Seen&) const = default;
  };
  explicit Listener(sim::EventQueue& events) : events_(events) {}
  void move_issued(std::uint32_t) override {}
  void move_complete(std::uint32_t) override {}
  void produce(std::uint32_t, std::uint32_t, std::span<std::byte>) override {}
  void consume(std::uint32_t, std::uint32_t offset, std::span<const std::byte>) override {
    seen.push_back({offset, events_.now()});
  }
  std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> offsets;
    for (const Seen& s : seen) offsets.push_back(s.offset);
    return offsets;
  }
  std::vector<Seen> seen;

 private:
  sim::EventQueue& events_;
};

struct Desk {
  explicit Desk(int lanes = 4, bool packet_by_packet = true)
      : blueprint(net::draw(fabric_with(lanes), 2).value()),
        routes(net::Routes::make(blueprint).value()),
        network(events, blueprint, routes, fabric_with(lanes), packet_by_packet),
        memory(plain_memory(), {}),
        inbox(events, network, memory, moves, &payloads, lanes, network.soonest_into(kHere)) {
    for (net::Link* link : network.links()) {
      if (link->to() == kHere) links.push_back(link);
    }
    Move move;
    move.bytes = 64_KiB;
    move.client = &listener;
    move.to = kHere;
    flow = moves.add(move, reinterpret_cast<CopyPipeline&>(no_pipeline));  // which nothing here asks for
  }
  /// Data that will arrive by that lane.
  void announce(int lane, sim::Time arrives, std::uint32_t offset) {
    net::Packet p;
    p.kind = net::PacketKind::kWrite;
    p.flow = flow;
    p.offset = offset;
    p.payload = 16;
    p.destination = kHere;
    p.channel = 1;
    p.arrives = arrives;
    p.values = payloads.take(16);
    inbox.add(p, *links[static_cast<std::size_t>(lane)]);
  }

  sim::EventQueue events;
  net::Blueprint blueprint;
  net::Routes routes;
  net::Network network;
  MemorySystem memory;
  MoveTable moves;
  net::Payloads payloads;
  Inbox inbox;
  Listener listener{events};
  std::vector<net::Link*> links;
  alignas(64) std::array<std::byte, 64> no_pipeline{};
  MoveId flow = 0;
};
using Offsets = std::vector<std::uint32_t>;

TEST(Inbox, TakesDataPacketByPacketAndOfNoMoreLinksThanItTellsApart) {
  EXPECT_TRUE(Desk(1).inbox.takes_data());
  EXPECT_TRUE(Desk(32).inbox.takes_data());
  EXPECT_FALSE(Desk(33).inbox.takes_data());
  EXPECT_FALSE(Desk(4, /*packet_by_packet=*/false).inbox.takes_data());
}

TEST(Inbox, WritesInOrderOfArrivalOverAllLinks) {
  Desk desk;
  desk.announce(0, 30_ns, 0);
  desk.announce(0, 50_ns, 16);
  desk.announce(3, 10_ns, 32);
  desk.announce(2, 40_ns, 48);
  desk.announce(3, 20_ns, 64);
  desk.inbox.take_in(60_ns);
  EXPECT_EQ(desk.listener.order(), (Offsets{32, 64, 0, 48, 16}));
}

TEST(Inbox, OfDataThatArriveTogetherTheFirstLinkComesFirst) {
  Desk desk;
  desk.announce(3, 10_ns, 0);
  desk.announce(1, 10_ns, 16);
  desk.announce(2, 10_ns, 32);
  desk.inbox.take_in(10_ns);
  EXPECT_EQ(desk.listener.order(), (Offsets{16, 32, 0}));
}

TEST(Inbox, WritesWhatHasArrivedAndNoMore) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(0, 20_ns, 16);
  desk.announce(1, 20'001_ps, 32);
  desk.inbox.take_in(20_ns);
  EXPECT_EQ(desk.listener.order(), (Offsets{0, 16}));
  EXPECT_EQ(desk.payloads.taken(), 1u) << "values are given back when they are written";
}

TEST(Inbox, TellsTheNetworkOfWhatIsWritten) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(1, 30_ns, 16);
  EXPECT_EQ(desk.network.payload_received(kHere), 0u);
  desk.inbox.take_in(20_ns);
  EXPECT_EQ(desk.network.payload_received(kHere), 16u);
  EXPECT_EQ(desk.network.packets_delivered(), 1u);
}

TEST(Inbox, AnyAccessToTheMemoryComesAfterWhatHasArrivedBefore) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(1, 30_ns, 16);
  desk.memory.read(Actor::kCompute, Block{1'000'000, 8'192}, 9_ns);
  EXPECT_TRUE(desk.listener.seen.empty());
  desk.memory.read(Actor::kCompute, Block{1'000'000, 8'192}, 10_ns);
  EXPECT_EQ(desk.listener.order(), (Offsets{0}));
  desk.memory.write(Actor::kCompute, Block{1'000'001, 8'192}, 31_ns);
  EXPECT_EQ(desk.listener.order(), (Offsets{0, 16}));
}

TEST(Inbox, WritesWithoutAnyAccessWhenTheFirstCreditsAreDue) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.announce(0, 60_ns, 16);
  desk.announce(0, 10_ns + kLatency + 1_ps, 32);
  desk.events.run();
  // The second goes with the first; the third has its own turn.
  EXPECT_EQ(desk.listener.seen,
            (std::vector<Listener::Seen>{
                {0, 10_ns + kLatency}, {16, 10_ns + kLatency}, {32, 10_ns + kLatency + 1_ps + kLatency}}));
}

TEST(Inbox, AnEarlierArrivalOnAnotherLinkIsNotLate) {
  Desk desk;
  desk.announce(0, 50_ns, 0);
  desk.announce(1, 20_ns, 16);
  desk.events.run();
  EXPECT_EQ(desk.listener.seen.front(), (Listener::Seen{16, 20_ns + kLatency}));
}

TEST(Inbox, WhatAnAccessMadeItWriteIsNotWrittenAgain) {
  Desk desk;
  desk.announce(0, 10_ns, 0);
  desk.memory.catch_up(15_ns);
  desk.announce(0, 40_ns, 16);
  desk.events.run();
  EXPECT_EQ(desk.listener.order(), (Offsets{0, 16}));
  EXPECT_EQ(desk.network.packets_delivered(), 2u);
}

}  // namespace
}  // namespace infold::gpu
