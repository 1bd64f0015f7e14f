// A copy pipeline with both neighbours faked: a client that notes what it is told, and a fabric in which a
// packet leaves and is acknowledged when the test says so.
#include <gmock/gmock.h>

#include "copy_pipeline_help.h"
#include "support/fake_fabric.h"

namespace infold::gpu {
namespace {

using support::FakeFabric;

/// A pipeline of GPU 0 whose loads take 300 ns, and a link that takes what it is told to take.
class Alone {
 public:
  struct Settings {
    sim::Bytes window = 2_KiB;
    sim::Bytes burst{};
    FakeFabric::Shape fabric{};
  };
  explicit Alone(const Settings& s)
      : fabric(s.fabric),
        memory(gpu_spec(), Contention{}),
        client(events),
        pipeline({.gpu = 0, .sender = 5, .window = s.window, .burst = s.burst, .port = 1000_GBps}, events,
                 memory, fabric, moves, nullptr) {}

  Move move(sim::Bytes bytes, std::uint32_t cookie = 0) {
    Move m;
    m.bytes = bytes;
    m.to = 1;
    m.client = &client;
    m.cookie = cookie;
    for (std::size_t i = 0; i < m.sources.size(); ++i) m.sources[i].buffer = 1'000'000 * (i + 1);
    return m;
  }
  void start(const Move& m, std::span<const Move> copies = {}) {
    pipeline.start(m, copies);
    events.run();
  }
  /// The first of the packets that are still in the link's queue leaves.
  void depart() {
    pipeline.departed(sim::Bytes{fabric.sent[left_++].packet.payload()});
    events.run();
  }
  void depart_all() {
    while (left_ < fabric.sent.size()) depart();
  }
  /// The acknowledgement of a packet is on its last link, and will be here at `at`.
  void acknowledge(std::size_t packet, sim::Time at) {
    const net::Packet& p = fabric.sent[packet].packet;
    if (moves[p.flow()].acknowledge(sim::Bytes{p.payload()}, at)) pipeline.settled(p.flow());
  }
  std::uint64_t loaded() const { return memory.traffic().total().l2_read; }

  static GpuSpec gpu_spec() {
    GpuSpec s;
    s.clock = 1000_MHz;
    s.l2 = {.capacity = 4_MiB, .copies = 1, .slices = 100, .slice_port = 1000_B, .latency = 100_ns};
    s.hbm.access = 200_ns;
    return s;
  }

  sim::EventQueue events;
  FakeFabric fabric;
  MemorySystem memory;
  MoveTable moves;
  Client client;
  CopyPipeline pipeline;

 private:
  std::size_t left_ = 0;
};

TEST(CopyPipelineAlone, HasNoMoreThanTheWindowBetweenLoadAndWire) {
  Alone scene({.window = 2_KiB});
  scene.start(scene.move(8_KiB));
  EXPECT_EQ(scene.fabric.payload(), 2'048u) << "and then it waits for the link";
  std::uint64_t left = 0;
  while (left < 8'192) {
    left += scene.fabric.sent[static_cast<std::size_t>(left / 512)].packet.payload();
    scene.depart();
    EXPECT_EQ(scene.fabric.payload(), std::min<std::uint64_t>(left + 2'048, 8'192));
  }
  EXPECT_EQ(scene.client.order(), "i0");
}

TEST(CopyPipelineAlone, HoldsBackLoadsToo) {
  Alone scene({.window = 1_KiB});
  scene.start(scene.move(64_KiB));
  EXPECT_EQ(scene.loaded(), 8'192u) << "tags are looked up by the block";
  EXPECT_EQ(scene.fabric.payload(), 1'024u);
  for (int i = 0; i < 14; ++i) scene.depart();
  EXPECT_EQ(scene.loaded(), 8'192u);
  EXPECT_EQ(scene.fabric.payload(), 8'192u);
  scene.depart();
  EXPECT_EQ(scene.loaded(), 16'384u) << "a place in the window came free for the next block's first bytes";
}

TEST(CopyPipelineAlone, OneUnitIsUnderWayHoweverNarrowTheWindow) {
  Alone scene({.window = 100_B});
  scene.start(scene.move(1_KiB));
  std::uint64_t sent = scene.fabric.payload();
  EXPECT_GT(sent, 0u);
  EXPECT_LE(sent, 100u);
  scene.depart_all();
  EXPECT_EQ(scene.fabric.payload(), 1'024u);
}

TEST(CopyPipelineAlone, PacketsComeInOrderEachOfItsMoveAndSender) {
  Alone scene({.window = 64_KiB});
  Move m = scene.move(5'000_B);
  m.address = 4'096 - 256;  // a block of addresses ends after 256 bytes, and after 4,352
  scene.start(m);
  std::vector<std::uint32_t> offsets;
  std::vector<int> sizes;
  for (const FakeFabric::Sent& s : scene.fabric.sent) {
    EXPECT_EQ(s.sender, 5u);
    EXPECT_EQ(s.packet.kind(), net::PacketKind::kWrite);
    EXPECT_EQ(s.packet.source(), 0);
    EXPECT_EQ(s.packet.destination(), 1);
    EXPECT_EQ(s.packet.packets(), (s.packet.payload() + 127) / 128) << "of 128 bytes each";
    offsets.push_back(s.packet.offset());
    sizes.push_back(s.packet.payload());
  }
  EXPECT_THAT(offsets, testing::ElementsAre(0, 256, 768, 1280, 1792, 2304, 2816, 3328, 3840, 4352, 4864));
  EXPECT_THAT(sizes, testing::ElementsAre(256, 512, 512, 512, 512, 512, 512, 512, 512, 512, 136));
}

TEST(CopyPipelineAlone, ABlockOfAddressesGoesOneWay) {
  FakeFabric::Shape shape;
  shape.lanes = 4;
  shape.block = 1_KiB;
  Alone scene({.window = 64_KiB, .fabric = shape});
  Move m = scene.move(8_KiB);
  m.address = 3'072;
  scene.start(m);
  const net::Interleaving& interleaving = scene.fabric.traits().interleaving;
  std::set<std::uint16_t> ways;
  for (const FakeFabric::Sent& s : scene.fabric.sent) {
    EXPECT_EQ(s.packet.spread(), interleaving.spread_of(3'072 + s.packet.offset()));
    EXPECT_EQ(s.packet.spread(), interleaving.spread_of(3'072 + s.packet.offset() + s.packet.payload() - 1U));
    ways.insert(s.packet.spread());
  }
  EXPECT_EQ(ways.size(), 4u);
}

TEST(CopyPipelineAlone, StoresWhatItHasLoadedAndNotBefore) {
  Alone scene({.window = 64_KiB});
  Move m = scene.move(4_KiB);
  m.loads = 2;
  std::vector<sim::Time> at;
  scene.fabric.on_send = [&](const net::Packet&) { at.push_back(scene.events.now()); };
  // The first source is at hand, the second has to come from memory.
  MemorySystem::Cursor warm(Actor::kCollective, m.sources[0].buffer, 0, 4'096);
  scene.memory.read(warm, 4'096, 0_ns);
  scene.pipeline.start(m);
  EXPECT_TRUE(at.empty()) << "what was asked for is not here yet";
  scene.events.run();
  ASSERT_EQ(at.size(), 8u);
  EXPECT_GE(at.front(), 300_ns) << "the access to memory and the way from L2";
  EXPECT_TRUE(std::ranges::is_sorted(at));
  EXPECT_EQ(scene.loaded(), 3u * 4'096) << "both sources, and the read of the test";
}

TEST(CopyPipelineAlone, TheLatestAcknowledgementEndsAMove) {
  Alone scene({.window = 64_KiB});
  scene.start(scene.move(1'536_B, 3));
  ASSERT_EQ(scene.fabric.sent.size(), 3u);
  EXPECT_EQ(scene.client.order(), "i3");
  scene.acknowledge(2, 2_us);
  scene.acknowledge(0, 9_us);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i3") << "one packet is not acknowledged";
  EXPECT_EQ(scene.moves.active(), 1u);
  scene.acknowledge(1, 5_us);
  EXPECT_EQ(scene.client.order(), "i3") << "it is known, but not here";
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i3c3");
  EXPECT_EQ(scene.client.when('c', 3), 9_us);
  EXPECT_EQ(scene.moves.active(), 0u);
}

TEST(CopyPipelineAlone, AcknowledgementsOfTheFirstPacketsDoNotEndAMoveThatIsNotAllSent) {
  Alone scene({.window = 1_KiB});
  scene.start(scene.move(2_KiB));
  ASSERT_EQ(scene.fabric.sent.size(), 2u);
  scene.acknowledge(0, scene.events.now());
  scene.acknowledge(1, scene.events.now());
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "");
  scene.depart();
  scene.depart();
  EXPECT_EQ(scene.client.order(), "i0");
  scene.acknowledge(2, scene.events.now());
  scene.acknowledge(3, scene.events.now());
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c0");
}

TEST(CopyPipelineAlone, TheNextMoveSharesTheWindowWithTheLast) {
  Alone scene({.window = 1_KiB});
  scene.start(scene.move(1_KiB, 0));
  EXPECT_EQ(scene.client.order(), "i0");
  scene.start(scene.move(1_KiB, 1));
  EXPECT_EQ(scene.fabric.payload(), 1'024u) << "the first move's bytes have not left";
  scene.depart();
  EXPECT_EQ(scene.fabric.payload(), 1'536u);
  scene.depart();
  EXPECT_EQ(scene.client.order(), "i0i1");
}

TEST(CopyPipelineAlone, ACopyForEachReceiverIsAcknowledgedByItself) {
  FakeFabric::Shape shape;
  shape.gpus = 3;
  Alone scene({.window = 1_KiB, .fabric = shape});
  Move second = scene.move(2_KiB, 1);
  second.to = 2;
  scene.start(scene.move(2_KiB, 0), std::vector{second});
  // A thread keeps what it loaded until the last of its stores has left.
  EXPECT_EQ(scene.fabric.payload(), 2u * 1'024);
  EXPECT_EQ(scene.fabric.sent[0].packet.destination(), 1);
  EXPECT_EQ(scene.fabric.sent[1].packet.destination(), 2);
  scene.depart();
  EXPECT_EQ(scene.fabric.payload(), 2u * 1'024) << "half of what a unit takes is free";
  scene.depart_all();
  EXPECT_EQ(scene.fabric.payload(), 2u * 2'048);
  EXPECT_EQ(scene.loaded(), 2'048u) << "it is loaded once";
  const sim::Time now = scene.events.now();
  for (std::size_t i = 1; i < 8; i += 2) scene.acknowledge(i, now);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c1");
  for (std::size_t i = 0; i < 8; i += 2) scene.acknowledge(i, now);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c1c0");
}

}  // namespace
}  // namespace infold::gpu
