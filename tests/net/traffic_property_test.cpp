// Holds for any traffic on any fabric: every packet arrives once, whole and in its flow's order, time never
// runs back, every credit comes home, and bursts deliver the same bytes as single packets.
#include <map>
#include <tuple>

#include "support/random_fabric.h"
#include "traffic_help.h"

namespace infold::net {
namespace {

using support::pick;

struct Tally {
  std::map<std::uint32_t, std::uint64_t> bytes;  // of each flow, as delivered
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  sim::Time end;
};

/// One random load on a fabric. Everything is drawn from the seed, whatever the cut.
Tally run(const support::Fabric& fabric, std::uint64_t seed, Cut cut) {
  Scene scene(fabric.spec, fabric.gpus, cut);
  scene.acknowledge_writes();
  sim::Random random(seed);
  struct Flow {
    Packet first;
    std::uint32_t sent = 0;
    std::uint32_t arrived = 0;
  };
  std::vector<Flow> flows(static_cast<std::size_t>(pick(random, 1, 40)));
  const bool slow = random.below(2) == 0;
  std::uint64_t acks_due = 0;
  sim::Time last;
  std::vector<sim::Time> busy(static_cast<std::size_t>(fabric.gpus));
  for (int gpu = 0; gpu < fabric.gpus; ++gpu) {
    Station& station = scene[gpu];
    station.hold = [&, gpu](const Packet& p) {
      const sim::Time now = scene.events.now();
      EXPECT_GE(now, last) << "time runs back";
      last = now;
      EXPECT_EQ(p.destination(), gpu) << "delivered to somebody else";
      if (p.kind() == PacketKind::kAck) {
        EXPECT_GE(acks_due, p.packets());
        acks_due -= p.packets();
        return now;
      }
      Flow& flow = flows[p.flow()];
      EXPECT_EQ(p.source(), flow.first.source());
      EXPECT_EQ(p.offset(), flow.arrived) << "out of order, or twice";
      flow.arrived = p.offset() + p.payload();
      if (p.kind() == PacketKind::kWrite) acks_due += p.packets();
      if (!slow) return now;
      auto& until = busy[static_cast<std::size_t>(gpu)];
      return until = sim::max(until, now) + sim::Time::ps(p.payload() * 50);
    };
  }
  const auto payload = static_cast<int>(fabric.spec.packet.payload.count());
  // In a burst a flow sends at most this much at once, and so it does packet by packet.
  const auto most = static_cast<int>(scene.network.traits().max_burst.count());
  for (std::uint32_t id = 0; id < flows.size(); ++id) {
    Packet p = write(pick(random, 0, fabric.gpus - 1), 0);
    p.set_destination(static_cast<NodeId>((p.source() + pick(random, 1, fabric.gpus - 1)) % fabric.gpus));
    p.set_kind(random.below(4) == 0 ? PacketKind::kSignal : PacketKind::kWrite);
    p.set_flow(id);
    p.set_spread(static_cast<std::uint16_t>(random.next()));
    const auto sender = static_cast<std::uint32_t>(random.below(100));
    flows[id].first = p;
    sim::Time when = sim::Time::ns(pick(random, 0, 900));
    for (int pieces = pick(random, 1, 12); pieces > 0; --pieces) {
      const int bytes = p.kind() == PacketKind::kSignal ? 8 : pick(random, 1, most);
      p.set_payload(static_cast<std::uint16_t>(bytes));
      p.set_packets(static_cast<std::uint16_t>((bytes + payload - 1) / payload));
      p.set_offset(flows[id].sent);
      flows[id].sent += static_cast<std::uint32_t>(bytes);
      scene.at(when, [&scene, p, sender] { scene.send(p, sender); });
      when += sim::Time::ns(pick(random, 0, 3) * 100);
    }
  }
  scene.events.run();

  Tally tally;
  for (std::uint32_t id = 0; id < flows.size(); ++id) {
    EXPECT_EQ(flows[id].arrived, flows[id].sent) << "flow " << id;
    tally.bytes[id] = flows[id].arrived;
  }
  EXPECT_EQ(acks_due, 0u);
  EXPECT_EQ(scene.network.packets_sent(), scene.network.packets_delivered());
  EXPECT_TRUE(scene.network.quiet());
  EXPECT_TRUE(scene.network.who_waits().empty());
  for (const auto& link : scene.network.links()) {
    EXPECT_TRUE(link->all_credits_home());
    tally.wire_bytes += link->traffic().wire_bytes;
  }
  tally.packets = scene.network.packets_delivered();
  tally.end = scene.events.now();
  return tally;
}

class EveryTraffic : public testing::TestWithParam<Topology> {};
INSTANTIATE_TEST_SUITE_P(Topologies, EveryTraffic, testing::ValuesIn(support::every_topology()),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(EveryTraffic, ArrivesOnceWholeAndInOrder) {
  for (std::uint64_t seed = 0; seed < 40 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::Random random(sim::mix(seed));
    const support::Fabric fabric = support::random_fabric(GetParam(), random);
    const Tally packets = run(fabric, seed, Cut::kPackets);
    const Tally bursts = run(fabric, seed, Cut::kBursts);
    EXPECT_EQ(packets.bytes, bursts.bytes);
    EXPECT_EQ(packets.packets, bursts.packets);
    EXPECT_EQ(packets.wire_bytes, bursts.wire_bytes);
    const Tally again = run(fabric, seed, Cut::kPackets);
    EXPECT_EQ(again.end, packets.end) << "the same run takes the same time";
  }
}

// A whole buffer's worth to everybody: congested, and still bursts take as long as single packets do.
TEST_P(EveryTraffic, BurstsTakeAboutAsLongAsPackets) {
  sim::Random random(7);
  support::Fabric fabric = support::random_fabric(GetParam(), random);
  fabric.spec.switch_chip.buffer = 32_KiB;
  fabric.spec.switch_chip.speedup = 2;
  fabric.spec.packet.payload = 128_B;
  double took[2];
  for (Cut cut : {Cut::kPackets, Cut::kBursts}) {
    Scene scene(fabric.spec, fabric.gpus, cut);
    scene.acknowledge_writes();
    for (int block = 0; block < 100; ++block) {
      for (int gpu = 0; gpu < fabric.gpus; ++gpu) {
        Packet p = write(gpu, (gpu + 1) % fabric.gpus, 4'096, 32);
        p.set_spread(
            scene.network.traits().interleaving.spread_of(static_cast<std::uint64_t>(block) * 4'096));
        scene.send(p, static_cast<std::uint32_t>(block % 3));
      }
    }
    scene.events.run();
    took[static_cast<int>(cut)] = scene.events.now().in_us();
  }
  EXPECT_NEAR(took[1] / took[0], 1.0, 0.04);
}

}  // namespace
}  // namespace infold::net
