// Networks beside each other: what takes one is not delayed by what takes another.
#include "net/separate_networks.h"

#include "traffic_help.h"

namespace infold::net {
namespace {

/// Two GPUs on one switch, joined by several networks.
struct Separate {
  explicit Separate(int count) : blueprint(drawn(one_switch(), 2)), routes(routes_of(blueprint)) {
    std::vector<std::unique_ptr<Fabric>> networks;
    for (int n = 0; n < count; ++n)
      networks.push_back(make_packet_fabric(events, blueprint, routes, one_switch(), true));
    fabric = std::make_unique<SeparateNetworks>(std::move(networks));
    for (int gpu = 0; gpu < 2; ++gpu) {
      stations.emplace_back(events);
      fabric->attach(static_cast<NodeId>(gpu), stations.back());
    }
  }
  void send(int network, int packets) {
    for (int i = 0; i < packets; ++i) fabric->send(write(0, 1), Fabric::through(network, 3));
  }
  sim::Time last_arrival() const { return stations[1].arrivals.back().at; }

  sim::EventQueue events;
  Blueprint blueprint;
  Routes routes;
  std::unique_ptr<SeparateNetworks> fabric;
  std::deque<Station> stations;
};

TEST(SeparateNetworks, TwoTakeAsLongAsOneAlone) {
  Separate alone(2);
  alone.send(0, 50);
  alone.events.run();
  Separate both(2);
  both.send(0, 50);
  both.send(1, 50);
  both.events.run();
  EXPECT_EQ(both.stations[1].arrivals.size(), 100U);
  EXPECT_EQ(both.last_arrival(), alone.last_arrival());
  Separate shared(2);
  shared.send(0, 100);
  shared.events.run();
  EXPECT_GT(shared.last_arrival(), both.last_arrival());
}

TEST(SeparateNetworks, AcknowledgementsGoBackWhereTheDataCameFrom) {
  Separate s(3);
  s.stations[1].on_arrival = [&s](const Packet& p) {
    if (p.kind() == PacketKind::kWrite) s.fabric->send_ack(Packet::ack(p, s.events.now()));
  };
  s.send(2, 10);
  s.send(1, 5);
  s.events.run();
  EXPECT_EQ(s.stations[0].arrivals.size(), 15U);
  EXPECT_TRUE(s.fabric->quiet());
  EXPECT_EQ(s.fabric->packets_sent(), 30U);
  EXPECT_EQ(s.fabric->packets_delivered(), 30U);
  EXPECT_EQ(s.fabric->payload_sent(0), 15U * 128U);
  EXPECT_EQ(s.fabric->payload_received(1), 15U * 128U);
}

}  // namespace
}  // namespace infold::net
