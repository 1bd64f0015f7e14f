// Endpoints that are told of data when these are on their last link: they may take them in late, and nobody
// can tell the difference.
#include <algorithm>
#include <deque>

#include "support/random_fabric.h"
#include "traffic_help.h"

namespace infold::net {
namespace {

constexpr sim::Time kAckTime = 40_ps * 16;

struct Taken {
  sim::Time at;
  std::uint32_t flow;
  std::uint32_t offset;
  auto operator<=>(const Taken&) const = default;
};

/// Keeps every packet for some time in the port's buffer.
class Receiver : public Endpoint {
 public:
  Receiver(Scene& scene, sim::Time hold) : scene_(scene), hold_(hold) {}
  sim::Time receive(const Packet& p) override {
    taken.push_back({scene_.events.now(), p.flow(), p.offset()});
    return scene_.events.now() + hold_;
  }
  void expect(const Packet& p) override { taken.push_back({p.arrives, p.flow(), p.offset()}); }
  void departed(const Packet&) override {}
  virtual ~Receiver() = default;
  std::vector<Taken> taken;

 protected:
  Scene& scene_;
  sim::Time hold_;
};

/// The same, but lets most packets wait, so that its port takes them in as late as it may.
class LateReceiver final : public Receiver {
 public:
  using Receiver::Receiver;
  bool expect_data(const Packet& p) override { return p.flow() % 4 != 0; }  // something waits for the others
  sim::Time take_in(const Packet& p) override {
    taken.push_back({p.arrives, p.flow(), p.offset()});
    return p.arrives + hold_;
  }
};

/// When what arrives where.
template <class Kind>
std::vector<std::vector<Taken>> run(const support::Fabric& fabric, std::uint64_t seed) {
  Scene scene(fabric.spec, fabric.gpus);
  sim::Random random(seed);
  std::deque<Kind> ports;
  for (int gpu = 0; gpu < fabric.gpus; ++gpu) {
    const auto hold = static_cast<std::int64_t>(random.below(400));
    ports.emplace_back(scene, sim::Time::ns(random.below(2) == 0 ? 0 : hold));
    scene.network.attach(static_cast<NodeId>(gpu), ports.back());
  }
  const auto gpus = static_cast<std::uint64_t>(fabric.gpus);
  const std::int64_t payload = fabric.spec.packet.payload.count();
  for (std::uint32_t flow = 0; flow < 60; ++flow) {
    Packet p = write(static_cast<int>(random.below(gpus)), 0);
    p.set_destination(static_cast<NodeId>((p.source() + 1 + random.below(gpus - 1)) % gpus));
    p.set_flow(flow);
    p.set_spread(static_cast<std::uint16_t>(random.next()));
    Packet flag = signal(p.source(), p.destination());
    flag.set_flow(1'000 + flow);
    flag.set_spread(p.spread());
    for (int i = 0; i < 6; ++i) {
      p.set_offset(static_cast<std::uint32_t>(i));
      p.set_packets(static_cast<std::uint16_t>(1 + random.below(4)));
      p.set_payload(static_cast<std::uint16_t>(std::min<std::int64_t>(
          p.packets() * payload, scene.network.traits().max_burst.count() / payload * payload)));
      p.set_packets(static_cast<std::uint16_t>(p.payload() / payload));
      scene.at(sim::Time::ns(static_cast<std::int64_t>(random.below(600))),
               [&scene, p] { scene.send(p, p.flow()); });
      scene.at(sim::Time::ns(static_cast<std::int64_t>(random.below(2'000))),
               [&scene, flag] { scene.send(flag, flag.flow()); });
    }
  }
  scene.events.run();
  EXPECT_TRUE(scene.network.quiet());
  std::vector<std::vector<Taken>> out;
  for (Kind& port : ports) {
    std::ranges::sort(port.taken);
    out.push_back(port.taken);
  }
  return out;
}

class DataAhead : public testing::TestWithParam<Topology> {};
INSTANTIATE_TEST_SUITE_P(Topologies, DataAhead, testing::ValuesIn(support::every_topology()),
                         [](const auto& tested) { return support::identifier(tested.param); });

support::Fabric fabric_of(Topology topology, std::uint64_t seed) {
  sim::Random random(sim::mix(seed));
  support::Fabric fabric = support::random_fabric(topology, random);
  // Room for few packets: everybody waits for credits.
  fabric.spec.switch_chip.buffer = WireCost(fabric.spec.packet).largest_packet() * 9;
  return fabric;
}

TEST_P(DataAhead, TakenInLateArriveAtTheSameTimes) {
  for (std::uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const support::Fabric fabric = fabric_of(GetParam(), seed);
    EXPECT_EQ(run<LateReceiver>(fabric, seed), run<Receiver>(fabric, seed));
  }
}

// Links out of switches that look ahead decide in lots, and where two of them do at the same time the first
// to be woken comes first: not always the same one.
TEST_P(DataAhead, TakenInLateTakeAsLongWhereLinksLookAhead) {
  for (std::uint64_t seed = 0; seed < 20 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    support::Fabric fabric = fabric_of(GetParam(), seed);
    fabric.spec.switch_chip.speedup = 0;
    const auto late = run<LateReceiver>(fabric, seed);
    const auto prompt = run<Receiver>(fabric, seed);
    for (std::size_t gpu = 0; gpu < late.size(); ++gpu) {
      ASSERT_EQ(late[gpu].size(), prompt[gpu].size());
      if (late[gpu].empty()) continue;
      const double took = late[gpu].back().at.in_us();
      EXPECT_NEAR(took, prompt[gpu].back().at.in_us(), 0.02 * took);
    }
  }
}

Packet ack_at(sim::Time at) {
  Packet ack;
  ack.set_kind(PacketKind::kAck);
  ack.set_source(0);
  ack.set_destination(1);
  ack.arrives = at;
  return ack;
}

TEST(AcksAhead, LeaveInTheOrderOfTheirTimes) {
  Scene scene(one_switch(), 2);
  const std::vector<std::int64_t> announced = {700, 300, 500, 900, 100, 500};
  for (std::uint32_t i = 0; i < announced.size(); ++i) {
    Packet ack = ack_at(sim::Time::ns(announced[i]));
    ack.set_flow(i);
    scene.network.send_ack(ack);
  }
  scene.events.run();
  std::vector<std::uint32_t> order;
  for (const Station::Arrival& a : scene[1].arrivals) order.push_back(a.packet.flow());
  EXPECT_EQ(order, (std::vector<std::uint32_t>{4, 1, 2, 5, 0, 3})) << "of equal ones the first announced";
  EXPECT_EQ(scene[1].arrivals.front().at, 100_ns + kAckTime + kWay);
  EXPECT_TRUE(scene.network.quiet());
}

TEST(AcksAhead, DoNotHoldUpFlagsThatAreThereNow) {
  Scene scene(one_switch(), 2);
  scene.network.send_ack(ack_at(1_us));
  scene.send(signal(0, 1), 0);
  scene.events.run();
  ASSERT_EQ(scene[1].arrivals.size(), 2u);
  EXPECT_EQ(scene[1].arrivals[0].packet.kind(), PacketKind::kSignal);
  EXPECT_EQ(scene[1].arrivals[0].at, 40_ps * (8 + 16) + kWay);
  EXPECT_EQ(scene[1].arrivals[1].at, 1_us + kAckTime + kWay);
}

}  // namespace
}  // namespace infold::net
