// Point-to-point sends: how many channels, and ranks that come at different times.
#include "coll/engine/execution.h"
#include "program_help.h"

namespace infold::coll {
namespace {

Program sent(sim::Bytes bytes, int ranks, int planes, const Tuning& tuning = {}) {
  net::FabricSpec fabric;
  fabric.planes = planes;
  return compiled(*find_algorithm("p2p"), Collective::kSend, bytes, ranks, net::draw(fabric, ranks).value(),
                  tuning);
}

TEST(P2p, ChannelsFollowFromLinksAndSize) {
  // Eight ranks may all be sent to at once, so that each gets an eighth of the channels at first.
  EXPECT_EQ(sent(16_B, 8, 16).channels, 1);
  EXPECT_EQ(sent(64_KiB, 8, 16).channels, 1);
  EXPECT_EQ(sent(256_KiB, 8, 16).channels, 4);
  EXPECT_EQ(sent(64_MiB, 8, 16).channels, 4) << "16 MiB each";
  EXPECT_EQ(sent(65_MiB, 8, 16).channels, 8);
  EXPECT_EQ(sent(512_MiB, 8, 16).channels, 32);
  EXPECT_EQ(sent(4_GiB, 8, 16).channels, 32) << "no more";
  EXPECT_EQ(sent(4_GiB, 8, 1).channels, 2) << "two per link";
  EXPECT_EQ(sent(64_MiB, 2, 16).channels, 16) << "half of them each way";
}

TEST(P2p, AChunkIsAStepOfTheBufferAtMost) {
  Tuning t;
  EXPECT_EQ(sent(4_MiB, 2, 1, t).steps(0, 0).front().bytes, 512_KiB);
  t.p2p.chunk = 128_KiB;
  EXPECT_EQ(sent(4_MiB, 2, 1, t).steps(0, 0).front().bytes, 128_KiB);
  t.buffer = 64_KiB;
  EXPECT_EQ(sent(4_MiB, 2, 1, t).steps(0, 0).front().bytes, 8_KiB);
}

TEST(P2p, OnlyTheRootSendsAndOnlyTheNextReceives) {
  const Program p = compiled(*find_algorithm("p2p"), Collective::kSend, 1_MiB, 4,
                             fabric_of(net::Topology::kSwitchPlanes, 4), Tuning{}, 3);
  EXPECT_EQ(bytes_sent(p), 1 << 20);
  for (int channel = 0; channel < p.channels; ++channel) {
    EXPECT_FALSE(p.steps(3, channel).empty());
    EXPECT_FALSE(p.steps(0, channel).empty());
    EXPECT_TRUE(p.steps(1, channel).empty());
    EXPECT_TRUE(p.steps(2, channel).empty());
  }
}

/// One send between two GPUs, whose hosts enqueue it at these times.
struct Sent {
  sim::Time sender;
  sim::Time receiver;
  std::uint64_t wrong = 0;
};
Sent run(sim::Bytes bytes, sim::Time sender_at, sim::Time receiver_at, Engine engine = Engine::kSm) {
  gpu::MachineSpec spec;
  spec.gpus = 2;
  gpu::Machine machine(gpu::MachinePlan::make(spec).value(),
                       gpu::MachineOptions{.burst = {}, .functional = true});
  const std::vector<int> gpus = {0, 1};
  Tuning tuning;
  tuning.channels = 4;
  const Program program = compile(*find_algorithm("p2p"), {.collective = Collective::kSend,
                                                           .bytes = bytes,
                                                           .gpus = gpus,
                                                           .fabric = &machine.blueprint(),
                                                           .tuning = tuning,
                                                           .root = 1,
                                                           .engine = engine});
  Values values(Collective::kSend, bytes, 2, Values::Kind{.root = 1}, 7);
  Execution execution(machine, program, gpus, {.values = &values, .trace = nullptr, .rank_done = {}});
  execution.enqueue(1, sender_at);
  execution.enqueue(0, receiver_at);
  machine.events().run();
  EXPECT_TRUE(execution.done());
  EXPECT_TRUE(machine.quiet());
  return {execution.finished(1), execution.finished(0), values.wrong()};
}

TEST(P2p, EitherMayComeFirst) {
  for (const Engine engine : {Engine::kSm, Engine::kDma}) {
    const Sent together = run(1_MiB, {}, {}, engine);
    EXPECT_EQ(together.wrong, 0U);
    const Sent late_receiver = run(1_MiB, {}, 500_us, engine);
    EXPECT_EQ(late_receiver.wrong, 0U);
    EXPECT_EQ(late_receiver.sender, together.sender) << "all of it fits the receiver's buffer";
    EXPECT_GT(late_receiver.receiver, 500_us);
    const Sent late_sender = run(1_MiB, 500_us, {}, engine);
    EXPECT_EQ(late_sender.wrong, 0U);
    EXPECT_EQ(late_sender.sender, together.sender + 500_us);
    EXPECT_GE(late_sender.receiver, 500_us);
  }
}

TEST(P2p, WhatDoesNotFitTheBufferWaitsForTheReceiver) {
  const Sent together = run(64_MiB, {}, {});
  const Sent late_receiver = run(64_MiB, {}, 5'000_us);
  EXPECT_LT(together.sender, 5'000_us);
  EXPECT_GT(late_receiver.sender, 5'000_us);
  EXPECT_EQ(late_receiver.wrong, 0U);
}

}  // namespace
}  // namespace infold::coll
