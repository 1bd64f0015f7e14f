// A copy engine between mocks: the client that queues copies on one side, the far GPU's ports on the other.
#include "gpu/copy/peer_copy_engine.h"

#include "copy_pipeline_help.h"

namespace infold::gpu {
namespace {

CopyEngineSpec timing(sim::Time command, sim::Time signal) {
  CopyEngineSpec spec;
  spec.command = command;
  spec.signal = signal;
  return spec;
}

/// An engine on GPU 0, whose copies to GPU 1 take longest on the wire.
struct EngineScene : CopyPipelineScene {
  static Settings far_away(bool functional) {
    Settings s;
    s.fabric.link.latency = 20'000_ns;
    s.functional = functional;
    return s;
  }
  explicit EngineScene(const CopyEngineSpec& timed, bool functional = false)
      : CopyPipelineScene(far_away(functional)), spec(timed), engine(pipeline, events, spec) {}
  void copy(sim::Bytes bytes, std::uint32_t cookie, int to = 1) {
    Move m = move(bytes, to);
    m.cookie = cookie;
    engine.copy(m);
  }
  CopyEngineSpec spec;
  PeerCopyEngine engine;
};

TEST(PeerCopyEngine, FetchesItsCommandBeforeItLoads) {
  EngineScene prompt(timing(0_ns, 0_ns));
  EngineScene slow(timing(1'500_ns, 0_ns));
  for (EngineScene* scene : {&prompt, &slow}) {
    scene->copy(10'000_B, 7);
    EXPECT_EQ(scene->read_bytes(), 0u) << "nothing is loaded in the moment of the call";
    scene->events.run();
    EXPECT_EQ(scene->client.order(), "i7c7");
  }
  EXPECT_EQ(slow.client.when('i', 7) - prompt.client.when('i', 7), 1'500_ns);
}

TEST(PeerCopyEngine, SignalsTheEndAfterTheLastAcknowledgement) {
  EngineScene prompt(timing(0_ns, 0_ns));
  EngineScene slow(timing(0_ns, 500_ns));
  for (EngineScene* scene : {&prompt, &slow}) {
    scene->copy(10'000_B, 7);
    scene->events.run();
    EXPECT_EQ(scene->near.acknowledged, 10'000u);
  }
  EXPECT_EQ(slow.client.when('i', 7), prompt.client.when('i', 7)) << "the signal does not hold up the loads";
  EXPECT_EQ(slow.client.when('c', 7) - prompt.client.when('c', 7), 500_ns);
}

TEST(PeerCopyEngine, FetchesTheNextCommandWhenTheLastHasLoaded) {
  EngineScene scene(timing(1'000_ns, 0_ns));
  scene.copy(10'000_B, 1);
  scene.copy(10'000_B, 2);
  scene.copy(10'000_B, 3);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i1i2i3c1c2c3") << "copies do not wait for acknowledgements of others";
  const sim::Time first = scene.client.when('i', 1);
  EXPECT_GE(first, 1'000_ns);
  EXPECT_GE(scene.client.when('i', 2) - first, 1'000_ns) << "a command is not fetched while another loads";
  EXPECT_GE(scene.client.when('i', 3) - scene.client.when('i', 2), 1'000_ns);
  EXPECT_EQ(scene.near.departed_bytes, 30'000u);
}

TEST(PeerCopyEngine, IdleItBeginsAtOnceWithWhatIsQueuedLater) {
  EngineScene scene(timing(1'000_ns, 0_ns));
  scene.copy(10'000_B, 1);
  scene.events.run();
  const sim::Time alone = scene.client.when('i', 1);
  const sim::Time again = scene.events.now();
  scene.copy(10'000_B, 2);
  scene.events.run();
  // The source is in the cache the second time, so it may be sooner.
  EXPECT_LE(scene.client.when('i', 2) - again, alone);
  EXPECT_GE(scene.client.when('i', 2) - again, 1'000_ns);
  EXPECT_EQ(scene.client.order(), "i1c1i2c2");
}

TEST(PeerCopyEngine, CopiesWithinItsOwnMemoryToo) {
  EngineScene scene(timing(1'000_ns, 200_ns));
  Move m = scene.move(10'000_B, Move::kNowhere);
  m.stores_here = true;
  scene.engine.copy(m);
  scene.events.run();
  EXPECT_EQ(scene.client.order(), "i0c0");
  EXPECT_EQ(scene.written_bytes(), 10'000u);
  EXPECT_EQ(scene.network.packets_sent(), 0u);
}

TEST(PeerCopyEngine, SendsTheValuesOfWhoAskedForTheCopy) {
  EngineScene scene(timing(1'000_ns, 0_ns), true);
  scene.copy(9'999_B, 5);
  scene.events.run();
  EXPECT_EQ(scene.client.produced, 9'999u);
  EXPECT_EQ(scene.client.wrong, 0u);
  EXPECT_EQ(scene.client.consumed, std::vector<int>(9'999, 1));
}

}  // namespace
}  // namespace infold::gpu
