// A communication workgroup's data path: its speed is a consequence of window, latency, port and link.
#include "copy_pipeline_help.h"

#include <algorithm>

namespace infold::gpu {
namespace {

using Settings = CopyPipelineScene::Settings;

double gb_per_s(sim::Bytes bytes, sim::Time time) {
  return static_cast<double>(bytes.count()) / time.in_s() * 1e-9;
}

TEST(CopyPipeline, IssuesBeforeItCompletesAndAMoveOutCompletesWhenAcknowledged) {
  CopyPipelineScene scene({});
  scene.pipeline.start(scene.move(10'000_B));
  EXPECT_FALSE(scene.pipeline.idle());
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c0");
  const sim::Time round_trip = 150_ns * 6;  // two cables and a switch, there and back
  EXPECT_GE(scene.client.when('c', 0) - scene.client.when('i', 0), round_trip);
  EXPECT_TRUE(scene.pipeline.idle());
  EXPECT_EQ(scene.moves.active(), 0u);
}

TEST(CopyPipeline, EveryByteIsSentAndAcknowledgedOnce) {
  CopyPipelineScene scene({});
  scene.pipeline.start(scene.move(12'345_B));
  scene.events.run();
  EXPECT_EQ(scene.near.departed_bytes, 12'345u);
  EXPECT_EQ(scene.near.acknowledged, 12'345u);
  EXPECT_EQ(scene.read_bytes(), 12'345u);
  std::uint32_t next = 0;
  for (const net::Packet& p : scene.far.packets) {
    EXPECT_EQ(p.offset(), next);
    next = p.offset() + p.payload();
  }
  EXPECT_EQ(next, 12'345u);
  EXPECT_TRUE(scene.network.quiet());
}

TEST(CopyPipeline, TheNextMoveMayStartAsSoonAsTheLastIsIssued) {
  CopyPipelineScene scene({});
  scene.client.on_issued = [&](std::uint32_t cookie) {
    EXPECT_TRUE(scene.pipeline.idle());
    if (cookie == 2) return;
    Move next = scene.move(5'000_B);
    next.cookie = cookie + 1;
    scene.pipeline.start(next);
  };
  scene.pipeline.start(scene.move(5'000_B));
  scene.events.run();
  EXPECT_LT(scene.client.when('i', 1), scene.client.when('c', 0));
  EXPECT_LT(scene.client.when('c', 0), scene.client.when('c', 1));
  EXPECT_LT(scene.client.when('c', 1), scene.client.when('c', 2));
  EXPECT_EQ(scene.near.acknowledged, 15'000u);
}

TEST(CopyPipeline, ALocalMoveReadsWritesAndSendsNothing) {
  CopyPipelineScene scene({});
  Move move = scene.move(10'000_B, Move::kNowhere);
  move.stores_here = true;
  scene.pipeline.start(move);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c0");
  EXPECT_EQ(scene.read_bytes(), 10'000u);
  EXPECT_EQ(scene.written_bytes(), 10'000u);
  EXPECT_EQ(scene.network.packets_sent(), 0u);
}

TEST(CopyPipeline, ReadsEachStreamItCombines) {
  CopyPipelineScene scene({});
  Move move = scene.move(10'000_B);
  move.loads = 2;
  move.stores_here = true;
  scene.pipeline.start(move);
  scene.events.run();
  EXPECT_EQ(scene.read_bytes(), 20'000u);
  EXPECT_EQ(scene.written_bytes(), 10'000u);
  EXPECT_EQ(scene.near.departed_bytes, 10'000u);
}

TEST(CopyPipeline, ASmallMoveTakesLoadLatencyAndTheWay) {
  CopyPipelineScene scene({});
  scene.pipeline.start(scene.move(64_B));
  scene.events.run();
  // Through L2 to memory and back; the bytes themselves take little.
  const GpuSpec gpu;
  const sim::Time latency = gpu.l2.latency + gpu.hbm.access;
  EXPECT_GE(scene.client.when('i', 0), latency + sim::Pace(90_GBps).time(64_B));
  EXPECT_LE(scene.client.when('i', 0), latency + 5_ns);
  const sim::Time there = 40_ps * (64 + 16) + 450_ns;
  const sim::Time back = 40_ps * 16 + 450_ns;
  EXPECT_EQ(scene.client.when('c', 0), scene.client.when('i', 0) + there + back);
}

void expect_4_kib_every_10_us(const Settings& settings, int loads) {
  CopyPipelineScene scene(settings);
  Move move = scene.move(400_KiB, Move::kNowhere);
  move.loads = loads;
  scene.pipeline.start(move);
  scene.events.run();
  EXPECT_NEAR(gb_per_s(400_KiB, scene.client.when('c', 0)), 4'096 / 10'142.0, 0.01);
}

// Little's law: with 4 KiB between load and store and 10 us of latency, 4 KiB go every 10 us.
TEST(CopyPipeline, LatencyBoundItMovesAWindowALatency) {
  Settings settings;
  settings.window = 4_KiB;
  settings.gpu.hbm.access = 10_us;
  expect_4_kib_every_10_us(settings, 1);
}

// The same law for what is on its way to the SM: two sources, so a byte of the move is two loads.
TEST(CopyPipeline, AnSmHasOnlySoManyLoadsOnTheirWay) {
  Settings settings;
  settings.window = 1_MiB;
  settings.outstanding = 8_KiB;
  settings.gpu.hbm.access = 10_us;
  expect_4_kib_every_10_us(settings, 2);
}

TEST(CopyPipeline, PortBoundItMovesAtThePortsRate) {
  Settings settings;
  settings.window = 1_MiB;
  settings.port = 10_GBps;
  CopyPipelineScene scene(settings);
  scene.pipeline.start(scene.move(1_MiB, Move::kNowhere));
  scene.events.run();
  EXPECT_NEAR(gb_per_s(1_MiB, scene.client.when('c', 0)), 10.0, 0.2);
}

TEST(CopyPipeline, LinkBoundItMovesAtTheLinksRateForData) {
  Settings settings;
  settings.window = 64_KiB;
  CopyPipelineScene scene(settings);
  scene.pipeline.start(scene.move(2_MiB));
  scene.events.run();
  EXPECT_NEAR(gb_per_s(2_MiB, scene.client.when('c', 0)), 25.0 * 128 / 144, 0.4);
}

TEST(CopyPipeline, TheWindowBoundsWhatIsBetweenLoadAndLink) {
  for (sim::Bytes burst : {0_B, 4_KiB}) {
    Settings settings;
    settings.window = 16_KiB;
    settings.burst = burst;
    CopyPipelineScene scene(settings);
    scene.pipeline.start(scene.move(1_MiB));
    std::uint64_t most = 0;
    do {
      most = std::max(most, scene.read_bytes() - scene.near.departed_bytes);
    } while (scene.events.run(1));
    // Reads are counted by blocks of L2, when the first of a block is asked for.
    EXPECT_LE(most, (16u << 10) + 8'192);
    EXPECT_GE(most, (16u << 10) - 2'048) << "and it is used";
  }
}

class Units : public testing::TestWithParam<std::tuple<int, int, int>> {};  // burst, block, address
INSTANTIATE_TEST_SUITE_P(Shapes, Units,
                         testing::Combine(testing::Values(0, 1'023, 4'096),
                                          testing::Values(256, 1'024, 4'096), testing::Values(0, 48, 4'000)));

TEST_P(Units, StayWithinTheirBlockAndGoOverItsLink) {
  const auto [burst, block, address] = GetParam();
  Settings settings;
  settings.burst = sim::Bytes{burst};
  settings.fabric.planes = 3;
  settings.fabric.interleave_block = sim::Bytes{block};
  CopyPipelineScene scene(settings);
  Move move = scene.move(50'000_B);
  move.address = static_cast<std::uint64_t>(address);
  scene.pipeline.start(move);
  scene.events.run();
  std::uint64_t bytes = 0;
  for (const net::Packet& p : scene.far.packets) {
    const std::uint64_t first = move.address + p.offset();
    const std::uint64_t last = first + p.payload() - 1;
    ASSERT_EQ(first / static_cast<std::uint64_t>(block), last / static_cast<std::uint64_t>(block));
    ASSERT_EQ(p.spread(), scene.network.traits().interleaving.spread_of(first));
    ASSERT_EQ(p.packets(), (p.payload() + 127) / 128);
    ASSERT_EQ(p.offset() % 16, 0u) << "no element is cut in two";
    bytes += p.payload();
  }
  EXPECT_EQ(bytes, 50'000u);
}

TEST(CopyPipeline, ABurstIsAtMostAnEighthOfTheWindowAThirtySecondOfTheMoveAndAQuarterOfTheBuffer) {
  for (auto [window, buffer, bytes, most] :
       {std::tuple{32_KiB, 32_KiB, 128_KiB, 4'096}, std::tuple{8_KiB, 32_KiB, 64_KiB, 1'024},
        std::tuple{32_KiB, 3_KiB, 64_KiB, 640}, std::tuple{32_KiB, 512_B, 64_KiB, 128},
        std::tuple{32_KiB, 32_KiB, 40_KiB, 1'024}}) {
    Settings settings;
    settings.window = window;
    settings.burst = 64_KiB;
    settings.fabric.switch_chip.buffer = buffer;
    settings.fabric.interleave_block = 64_KiB;
    CopyPipelineScene scene(settings);
    scene.pipeline.start(scene.move(bytes));
    scene.events.run();
    const auto largest =
        std::max_element(scene.far.packets.begin(), scene.far.packets.end(),
                         [](const auto& a, const auto& b) { return a.payload() < b.payload(); });
    EXPECT_EQ(largest->payload(), most) << window.count() << " " << buffer.count();
  }
}

class Functional : public testing::TestWithParam<int> {};  // burst
INSTANTIATE_TEST_SUITE_P(Bursts, Functional, testing::Values(0, 512, 4'096));

TEST_P(Functional, EveryValueArrivesOnceWhereItBelongs) {
  Settings settings;
  settings.functional = true;
  settings.burst = sim::Bytes{GetParam()};
  settings.fabric.planes = 3;
  CopyPipelineScene scene(settings);
  scene.pipeline.start(scene.move(20'000_B));
  scene.events.run();
  EXPECT_EQ(scene.client.consumed, std::vector<int>(20'000, 1));
  EXPECT_EQ(scene.client.wrong, 0u);
  EXPECT_EQ(scene.client.produced, 20'000u);
  EXPECT_EQ(scene.payloads.taken(), 0u);
}

TEST_P(Functional, ValuesDoNotChangeTheTime) {
  sim::Time ended[2];
  for (bool functional : {false, true}) {
    Settings settings;
    settings.functional = functional;
    settings.burst = sim::Bytes{GetParam()};
    settings.fabric.switch_chip.buffer = 1_KiB;
    CopyPipelineScene scene(settings);
    scene.pipeline.start(scene.move(20'000_B));
    scene.events.run();
    ended[functional ? 1 : 0] = scene.client.when('c', 0);
  }
  EXPECT_EQ(ended[0], ended[1]);
}

TEST(Functional, ALocalMoveProducesItsValuesHere) {
  Settings settings;
  settings.functional = true;
  CopyPipelineScene scene(settings);
  scene.pipeline.start(scene.move(5'000_B, Move::kNowhere));
  scene.events.run();
  EXPECT_EQ(scene.client.produced, 5'000u);
  EXPECT_EQ(scene.payloads.taken(), 0u);
}

}  // namespace
}  // namespace infold::gpu
