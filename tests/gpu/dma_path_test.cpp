// Slices carried by copy engines, between mocks: the client that asks for slices on one side, ports of other
// GPUs that acknowledge what arrives on the other.
#include "gpu/copy/dma_path.h"

#include <map>
#include <memory>

#include "copy_pipeline_help.h"
#include "gpu/machine.h"

namespace infold::gpu {
namespace {

constexpr sim::Bytes kSlice = 40'000_B;

/// The ports of another GPU: counts what arrives, and acknowledges it.
class FakePeer final : public net::Endpoint {
 public:
  FakePeer(Machine& machine, net::NodeId id) : machine_(machine) { machine.network().attach(id, *this); }
  sim::Time receive(const net::Packet& p) override {
    if (bytes == 0) first = machine_.events().now();
    bytes += p.payload();
    machine_.network().send_ack(net::Packet::ack(p, machine_.events().now()));
    return machine_.events().now();
  }
  void expect(const net::Packet&) override {}
  void departed(const net::Packet&) override {}

  std::uint64_t bytes = 0;
  sim::Time first;

 private:
  Machine& machine_;
};

MachineSpec four_gpus(int engines) {
  MachineSpec spec;
  spec.gpus = 4;
  spec.gpu.copy.engines = engines;
  spec.gpu.copy.command = 1'000_ns;
  spec.gpu.copy.signal = 500_ns;
  spec.fabric.link.latency = 10'000_ns;
  return spec;
}

/// GPU 0 with a path for slices to the others.
struct DmaScene {
  struct Settings {
    int engines = 8;
    int slots = 2;
    bool functional = false;
    bool fake_peers = true;
  };
  explicit DmaScene(const Settings& s)
      : machine(MachinePlan::make(four_gpus(s.engines)).value(), {.burst = {}, .functional = s.functional}),
        client(machine.events()),
        path(machine.gpu(0), {.first_engine = 0,
                              .gpus = 4,
                              .stream = machine.gpu(0).adding_stream(0),
                              .workgroups = 4,
                              .threads = 512,
                              .window = 32_KiB,
                              .burst = {},
                              .sums = buffer(),
                              .slot = kSlice,
                              .slots = s.slots,
                              .functional = s.functional}) {
    for (net::NodeId peer = 1; s.fake_peers && peer < 4; ++peer)
      peers[peer] = std::make_unique<FakePeer>(machine, peer);
  }
  std::uint64_t buffer(int gpu = 0) { return machine.gpu(gpu).core().addresses().buffer(kSlice * 8); }
  Move slice_to(int gpu, std::uint32_t cookie, int loads = 1) {
    Move m;
    m.bytes = kSlice;
    m.to = gpu;
    m.loads = loads;
    m.client = &client;
    m.cookie = cookie;
    for (int i = 0; i < loads; ++i) m.sources[static_cast<std::size_t>(i)].buffer = buffer();
    m.here.buffer = buffer();
    if (gpu != Move::kNowhere) m.there.buffer = buffer(gpu);
    return m;
  }
  void start(const Move& move, const std::vector<Move>& copies = {}) { path.start(move, copies); }
  std::uint64_t read_bytes() { return machine.gpu(0).memory().traffic().total().l2_read; }
  std::uint64_t written_bytes() { return machine.gpu(0).memory().traffic().total().l2_written; }
  sim::Time sm_time() { return machine.gpu(0).sm_time()[Actor::kCollective]; }

  Machine machine;
  Client client;
  DmaPath path;
  std::map<net::NodeId, std::unique_ptr<FakePeer>> peers;
};

constexpr auto kBytes = static_cast<std::uint64_t>(kSlice.count());

TEST(DmaPath, WhatIsOnlyCopiedTakesNoSm) {
  DmaScene scene({});
  scene.start(scene.slice_to(1, 7));
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i7c7");
  EXPECT_EQ(scene.peers[1]->bytes, kBytes);
  EXPECT_EQ(scene.read_bytes(), kBytes);
  EXPECT_EQ(scene.written_bytes(), 0u);
  EXPECT_EQ(scene.sm_time(), 0_ns);
}

TEST(DmaPath, EachTargetIsLoadedForAndCompletesByItself) {
  DmaScene scene({});
  scene.start(scene.slice_to(1, 1), {scene.slice_to(2, 2), scene.slice_to(3, 3)});
  scene.machine.events().run();
  EXPECT_EQ(scene.read_bytes(), 3 * kBytes) << "engines do not share what they load";
  for (const auto& [gpu, peer] : scene.peers) EXPECT_EQ(peer->bytes, kBytes) << gpu;
  ASSERT_EQ(scene.client.told.size(), 4u);
  EXPECT_EQ(scene.client.told[0].what, 'i') << "of the slice, which is issued once";
  EXPECT_EQ(scene.client.told[0].cookie, 1u);
  for (const std::uint32_t cookie : {1u, 2u, 3u}) {
    EXPECT_GE(scene.client.when('c', cookie) - scene.client.when('i', 1), 40'000_ns)
        << "no sooner than there and back";
  }
}

TEST(DmaPath, TheSliceIsIssuedWhenTheLastOfItsCopiesHasLoaded) {
  DmaScene own_engines({.engines = 3});
  DmaScene one_engine({.engines = 1});
  for (DmaScene* scene : {&own_engines, &one_engine}) {
    scene->start(scene->slice_to(1, 1), {scene->slice_to(2, 2), scene->slice_to(3, 3)});
    scene->machine.events().run();
  }
  const sim::Time side_by_side = own_engines.client.when('i', 1);
  EXPECT_LT(side_by_side, 3'000_ns) << "with an engine for each GPU no copy waits behind another";
  EXPECT_GE(one_engine.client.when('i', 1), 3'000_ns) << "one engine fetches three commands";
}

TEST(DmaPath, WhatIsKeptIsCompleteWhenItIsStoredAndSent) {
  DmaScene scene({});
  Move move = scene.slice_to(1, 4);
  move.stores_here = true;
  scene.start(move);
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i4c4");
  EXPECT_EQ(scene.written_bytes(), kBytes);
  EXPECT_EQ(scene.peers[1]->bytes, kBytes);
  EXPECT_EQ(scene.read_bytes(), 2 * kBytes) << "a copy away, and a copy here";
  EXPECT_GE(scene.client.when('c', 4), 40'000_ns);
}

TEST(DmaPath, WhatIsOnlyKeptIsNotSent) {
  DmaScene scene({});
  Move move = scene.slice_to(Move::kNowhere, 4);
  move.stores_here = true;
  scene.start(move);
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i4c4");
  EXPECT_EQ(scene.written_bytes(), kBytes);
  EXPECT_EQ(scene.machine.network().packets_sent(), 0u);
}

TEST(DmaPath, SumsAreMadeOnSmsAndStoredBeforeTheyAreSent) {
  DmaScene scene({});
  scene.start(scene.slice_to(1, 9, 2));
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i9c9");
  EXPECT_EQ(scene.read_bytes(), 3 * kBytes) << "two that are added, and the sum";
  EXPECT_EQ(scene.written_bytes(), kBytes);
  EXPECT_EQ(scene.peers[1]->bytes, kBytes);
  EXPECT_GT(scene.sm_time(), 0_ns);
  EXPECT_EQ(scene.machine.gpu(0).workgroups(), 0) << "all of them were given back";
  DmaScene copy_only({});
  copy_only.start(copy_only.slice_to(1, 9));
  copy_only.machine.events().run();
  EXPECT_GE(scene.peers[1]->first - copy_only.peers[1]->first, scene.machine.spec().gpu.sm.workgroup_start)
      << "nothing leaves before the kernel has run";
}

TEST(DmaPath, ASumThatIsKeptIsMadeWhereItStays) {
  DmaScene scene({.slots = 0});  // there is no room for sums that are kept nowhere
  Move move = scene.slice_to(1, 3, 2);
  move.stores_here = true;
  scene.start(move);
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i3c3");
  EXPECT_EQ(scene.written_bytes(), kBytes) << "stored once";
  EXPECT_EQ(scene.read_bytes(), 3 * kBytes);
  Move here = scene.slice_to(Move::kNowhere, 5, 2);
  here.stores_here = true;
  scene.start(here);
  scene.machine.events().run();
  EXPECT_EQ(scene.client.order(), "i3c3i5c5");
  EXPECT_EQ(scene.peers[1]->bytes, kBytes) << "that of the first alone";
}

TEST(DmaPath, ASumWaitsForRoomUntilTheLastIsThere) {
  for (const int slots : {1, 2}) {
    DmaScene scene({.slots = slots});
    scene.client.on_issued = [&](std::uint32_t cookie) {
      if (cookie == 1) scene.start(scene.slice_to(2, 2, 2));
    };
    scene.start(scene.slice_to(1, 1, 2));
    scene.machine.events().run();
    ASSERT_EQ(scene.peers[2]->bytes, kBytes) << slots;
    const sim::Time way = 20'000_ns;
    const sim::Time began = scene.peers[2]->first - way;
    if (slots == 1) {
      EXPECT_GE(began, scene.client.when('c', 1)) << "its room holds the first sum until that is complete";
    } else {
      EXPECT_LT(began, scene.client.when('c', 1));
    }
  }
}

TEST(DmaPath, SlicesCarryTheValuesOfTheirClient) {
  for (const int loads : {1, 2}) {
    DmaScene scene({.functional = true, .fake_peers = false});
    scene.start(scene.slice_to(1, 1, loads), {scene.slice_to(2, 2, loads)});
    scene.machine.events().run();
    EXPECT_EQ(scene.client.produced, kBytes) << "read and combined once, whatever it is sent to";
    EXPECT_EQ(scene.client.wrong, 0u);
    EXPECT_EQ(scene.client.consumed, std::vector<int>(kBytes, 2)) << "each byte at two GPUs";
    EXPECT_TRUE(scene.machine.quiet());
  }
}

}  // namespace
}  // namespace infold::gpu
