// A GPU on its machine: workgroups and their SMs, flags and when they are seen, writes and what they cost.
#include "gpu/gpu.h"

#include "copy_pipeline_help.h"
#include "gpu/machine.h"
#include "net/packet/earliest.h"

namespace infold::gpu {
namespace {

MachineSpec two_gpus() {
  MachineSpec spec;
  spec.gpus = 2;
  spec.gpu.sms = 4;
  spec.gpu.poll = 300_ns;
  spec.fabric.link = {.rate = 25_GBps, .latency = 100_ns, .error_distance = {}};
  spec.fabric.switch_chip.latency = 50_ns;
  return spec;
}

Move move_to(int gpu, sim::Bytes bytes, Client& client) {
  Move move;
  move.bytes = bytes;
  move.to = gpu;
  move.client = &client;
  return move;
}

class GpuTest : public testing::Test, protected sim::Handler {
 protected:
  void handle(std::uint32_t arg) override { seen.emplace_back(arg, machine.events().now()); }
  using Seen = std::vector<std::pair<std::uint32_t, sim::Time>>;

  Machine machine{MachinePlan::make(two_gpus()).value(), {}};
  Seen seen;
};

TEST_F(GpuTest, AFlagIsSeenAfterItsWayAndAPoll) {
  const SignalId id = machine.signals().add({this, 7});
  machine.gpu(0).signal(id, 1, 0);
  machine.events().run();
  EXPECT_EQ(seen, (Seen{{7, 40_ps * (8 + 16) + 250_ns + 300_ns}}));
}

TEST_F(GpuTest, AFlagToItselfIsSeenAfterAPoll) {
  const SignalId id = machine.signals().add({this, 7});
  machine.gpu(0).signal(id, 0, 0);
  machine.events().run();
  EXPECT_EQ(seen, (Seen{{7, 300_ns}}));
  EXPECT_EQ(machine.network().packets_sent(), 0u);
}

TEST_F(GpuTest, EachFlagWakesItsOwnWaiterEachTime) {
  machine.signals().add({this, 1});
  const SignalId second = machine.signals().add({this, 2});
  for (int i = 0; i < 3; ++i) machine.gpu(0).signal(second, 1, 0);
  machine.events().run();
  ASSERT_EQ(seen.size(), 3u);
  for (const auto& [arg, at] : seen) EXPECT_EQ(arg, 2u);
}

TEST_F(GpuTest, ASignalThatIsNotUsedAnyMoreIsUsedAgain) {
  const SignalId first = machine.signals().add({this, 1});
  machine.signals().remove(first);
  EXPECT_EQ(machine.signals().add({this, 2}), first);
  EXPECT_EQ(machine.signals().used(), 1u);
  machine.gpu(0).signal(first, 1, 0);
  machine.events().run();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].first, 2u);
}

TEST_F(GpuTest, WorkgroupsHaveTheirOwnTurnsAndGiveThemBack) {
  Gpu& gpu = machine.gpu(0);
  CopyPipeline& a = gpu.take_workgroup(4_KiB, 0_B);
  CopyPipeline& b = gpu.take_workgroup(4_KiB, 0_B);
  EXPECT_EQ(gpu.workgroups(), 2);
  EXPECT_NE(a.sender(), b.sender()) << "each takes its own turns at the links";
  const std::uint32_t place = a.sender();
  gpu.release_workgroup(a);
  EXPECT_EQ(gpu.workgroups(), 1);
  EXPECT_EQ(gpu.take_workgroup(4_KiB, 0_B).sender(), place) << "a place that was given back is used again";
}

TEST_F(GpuTest, AMoveWritesTheOtherMemoryAndIsAcknowledged) {
  Client client(machine.events());
  CopyPipeline& pipeline = machine.gpu(0).take_workgroup(32_KiB, 0_B);
  pipeline.start(move_to(1, 10'000_B, client));
  EXPECT_FALSE(machine.quiet());
  machine.events().run();
  EXPECT_EQ(client.order(), "i0c0");
  EXPECT_EQ(machine.gpu(0).memory().traffic().total().l2_read, 10'000u);
  EXPECT_EQ(machine.gpu(1).memory().traffic().total().l2_written, 10'000u);
  EXPECT_EQ(machine.network().payload_received(1), 10'000u);
  EXPECT_TRUE(machine.quiet());
}

TEST_F(GpuTest, MovesBothWaysDoNotMeet) {
  Client clients[2] = {Client(machine.events()), Client(machine.events())};
  for (int gpu : {0, 1})
    machine.gpu(gpu).take_workgroup(32_KiB, 0_B).start(move_to(1 - gpu, 100'000_B, clients[gpu]));
  machine.events().run();
  for (const Client& client : clients) EXPECT_EQ(client.order(), "i0c0");
  EXPECT_EQ(machine.gpu(0).memory().traffic().total().l2_written, 100'000u);
  EXPECT_EQ(machine.gpu(1).memory().traffic().total().l2_written, 100'000u);
}

TEST(Gpu, WhoeverLooksMeanwhileSeesWhatHasArrivedAndChangesNothing) {
  sim::Time took[2];
  std::uint64_t events[2];
  for (const bool looks : {false, true}) {
    Machine machine(MachinePlan::make(two_gpus()).value(), {});
    Client client(machine.events());
    machine.gpu(0).take_workgroup(32_KiB, 0_B).start(move_to(1, 100'000_B, client));
    std::uint64_t before = 0;
    int steps = 0;
    while (machine.events().run(1)) {
      if (!looks) continue;
      machine.gpu(1).core().memory().catch_up(machine.events().now());
      const std::uint64_t here = machine.network().payload_received(1);
      EXPECT_GE(here, before);
      EXPECT_TRUE(here == 0 || machine.events().now() >= 250_ns);
      if (here > before) ++steps;
      // A run's bytes are counted a block of L2 at a time.
      EXPECT_GE(machine.gpu(1).memory().traffic().total().l2_written, here);
      before = here;
    }
    EXPECT_TRUE(!looks || steps > 100) << "it comes packet by packet";
    EXPECT_TRUE(machine.quiet());
    took[looks] = client.when('c', 0);
    events[looks] = machine.events().handled();
  }
  EXPECT_EQ(took[0], took[1]);
  EXPECT_EQ(events[0], events[1]);
}

TEST(Gpu, AcknowledgesEveryPacketOfABurst) {
  std::uint64_t wire_back[2];
  for (const bool bursts : {false, true}) {
    const sim::Bytes burst = bursts ? 4_KiB : 0_B;
    Machine machine(MachinePlan::make(two_gpus()).value(), {.burst = burst});
    Client client(machine.events());
    machine.gpu(0).take_workgroup(32_KiB, burst).start(move_to(1, 64_KiB, client));
    machine.events().run();
    wire_back[bursts] = 0;
    for (net::LinkId link = 0; link < machine.map().links(); ++link)
      wire_back[bursts] += machine.map().from(link) == 1 ? machine.network().counters(link).wire_bytes : 0;
  }
  EXPECT_EQ(wire_back[0], 64u * 1024 / 128 * 16);
  EXPECT_EQ(wire_back[1], wire_back[0]);
}

TEST(Gpu, MoreLinksThanAPortTellsApartTakeAsLong) {
  constexpr int kMost = net::Earliest::kMost;
  sim::Time took[2];
  for (const bool more : {false, true}) {
    MachineSpec spec = two_gpus();
    spec.fabric.links_per_plane = {more ? kMost + 1 : kMost};
    Machine machine(MachinePlan::make(spec).value(), {});
    Client client(machine.events());
    machine.gpu(0).take_workgroup(32_KiB, 0_B).start(move_to(1, 1_MiB, client));
    machine.events().run();
    EXPECT_EQ(client.order(), "i0c0");
    EXPECT_EQ(machine.network().payload_received(1), 1u << 20);
    EXPECT_TRUE(machine.quiet());
    took[more] = client.when('c', 0);
  }
  EXPECT_NEAR(took[1].in_us() / took[0].in_us(), 1.0, 0.01);
}

TEST(Gpu, AMemorySlowerThanTheLinkHoldsUpTheSender) {
  sim::Time took[2];
  for (int slow : {0, 1}) {
    MachineSpec spec = two_gpus();
    spec.gpu.hbm.bandwidth = slow != 0 ? 5_GBps : 2'000_GBps;
    Machine machine(MachinePlan::make(spec).value(), {});
    Client client(machine.events());
    machine.gpu(0).take_workgroup(32_KiB, 0_B).start(move_to(1, 1_MiB, client));
    machine.events().run();
    took[slow] = client.when('i', 0);
  }
  EXPECT_GT(took[1], took[0] * 3);
}

}  // namespace
}  // namespace infold::gpu
