// The switch client and the switch port with their neighbours faked: packets leave, are acknowledged and
// answered when the test says so.
#include "switch_client_help.h"

#include <gmock/gmock.h>

#include <numeric>
#include <set>

namespace infold::gpu {
namespace {

std::vector<std::uint32_t> switch_blocks(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> out(count);
  for (std::uint32_t i = 0; i < count; ++i) out[i] = (first + i) * SwitchClientScene::kBlock;
  return out;
}

TEST(SwitchClient, PushesEveryBlockInOrder) {
  SwitchClientScene scene({});
  scene.start(UnitOp::kPush, 0, 2'048);
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 16));
  for (const auto& s : scene.fabric.sent) {
    EXPECT_EQ(s.packet.kind(), net::PacketKind::kReduceWrite);
    EXPECT_EQ(s.packet.payload(), SwitchClientScene::kBlock);
    EXPECT_EQ(s.sender, SwitchClientScene::kSender);
  }
  EXPECT_EQ(scene.told, "i");
}

TEST(SwitchClient, TheLastBlockMayBeShort) {
  SwitchClientScene scene({.region = 1'000_B});
  scene.start(UnitOp::kPush, 0, 1'000);
  EXPECT_EQ(scene.fabric.payload(), 1'000u);
  EXPECT_EQ(scene.fabric.sent.back().packet.payload(), 1'000 % 128);
}

TEST(SwitchClient, SendsWhatItHasLoadedAndNotBefore) {
  SwitchClientScene scene({});
  std::vector<sim::Time> at;
  scene.fabric.on_send = [&](const net::Packet&) { at.push_back(scene.events.now()); };
  scene.start(UnitOp::kPush, 0, 2'048);
  ASSERT_EQ(at.size(), 16u);
  EXPECT_GE(at.front(), 300_ns) << "the access to memory and the way from L2";
}

TEST(SwitchClient, HasNoMoreThanTheWindowBetweenLoadAndWire) {
  SwitchClientScene scene({.window = 1_KiB});
  scene.start(UnitOp::kPush, 0, 4'096);
  EXPECT_EQ(scene.fabric.sent.size(), 8u);
  EXPECT_EQ(scene.told, "");
  for (std::size_t i = 0; i < 3; ++i) scene.depart(i);
  EXPECT_EQ(scene.fabric.sent.size(), 8u) << "loads are of four blocks";
  scene.depart(3);
  EXPECT_EQ(scene.fabric.sent.size(), 12u);
  for (std::size_t i = 4; i < scene.fabric.sent.size(); ++i) scene.depart(i);
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 32));
  EXPECT_EQ(scene.told, "i");
}

TEST(SwitchClient, PushesNothingBeyondTheLimit) {
  SwitchClientScene scene({});
  UnitTask task;
  task.region = scene.region;
  task.end = 4'096;
  task.limit = 1'024;
  scene.client.start(task);
  scene.events.run();
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 8));
  EXPECT_THAT(scene.client.why_waiting(), testing::HasSubstr("results of earlier waves"));
  scene.client.limit(1'536);
  scene.events.run();
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 12));
  scene.client.limit(9'999);
  scene.events.run();
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 32));
}

TEST(SwitchClient, TheLatestAcknowledgementEndsATask) {
  SwitchClientScene scene({});
  scene.start(UnitOp::kPush, 0, 384);
  scene.acknowledge(2, 3_us);
  scene.acknowledge(0, 9_us);
  scene.events.run();
  EXPECT_EQ(scene.told, "i") << "a block is not acknowledged";
  EXPECT_FALSE(scene.client.done());
  scene.acknowledge(1, 5_us);
  EXPECT_EQ(scene.told, "i") << "it is known, but not here";
  scene.events.run();
  EXPECT_EQ(scene.told, "ic");
  EXPECT_EQ(scene.told_at, 9_us);
  EXPECT_TRUE(scene.client.done());
}

TEST(SwitchClient, TasksEndInTheOrderInWhichTheyBegan) {
  SwitchClientScene scene({});
  scene.start(UnitOp::kPush, 0, 256);
  scene.start(UnitOp::kPush, 256, 512);
  EXPECT_EQ(scene.told, "ii");
  scene.acknowledge(2, 1_us);
  scene.acknowledge(3, 1_us);
  scene.events.run();
  EXPECT_EQ(scene.told, "ii") << "the first has not ended";
  scene.acknowledge(0, 2_us);
  scene.acknowledge(1, 2_us);
  scene.events.run();
  EXPECT_EQ(scene.told, "iicc");
}

TEST(SwitchClient, PullsBlockByBlockAndStoresTheSums) {
  SwitchClientScene scene({.pulls = true});
  scene.start(UnitOp::kPull, 0, 1'024);
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 8));
  for (const auto& s : scene.fabric.sent) {
    EXPECT_EQ(s.packet.kind(), net::PacketKind::kLoadReduce);
    EXPECT_EQ(s.packet.payload(), 0);
  }
  EXPECT_EQ(scene.told, "i");
  for (const std::size_t i : {3, 1, 0, 2, 7, 6, 5}) scene.answer(i);
  EXPECT_EQ(scene.told, "i");
  EXPECT_THAT(scene.client.why_waiting(), testing::HasSubstr("sums of 128 bytes"));
  scene.answer(4);
  EXPECT_EQ(scene.told, "ic");
  EXPECT_EQ(scene.got, 1'024u);
  EXPECT_GE(scene.written(), 1'024u);
}

TEST(SwitchClient, AsksForNoMoreThanTheWindow) {
  SwitchClientScene scene({.pulls = true, .window = 512_B});
  scene.start(UnitOp::kPull, 0, 2'048);
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(scene.fabric.sent.size(), std::min<std::size_t>(i + 4, 16)) << "one for each that was answered";
    scene.answer(i);
  }
  EXPECT_EQ(scene.told, "ic");
}

TEST(SwitchClient, ASumThatIsMulticastKeepsItsPlaceUntilItHasLeft) {
  SwitchClientScene scene({.pulls = true, .window = 256_B});
  scene.start(UnitOp::kPullMulticast, 0, 384);
  ASSERT_EQ(scene.fabric.sent.size(), 2u) << "the window has room for two";
  scene.answer(0);
  ASSERT_EQ(scene.fabric.sent.size(), 3u);
  EXPECT_EQ(scene.fabric.sent[2].packet.kind(), net::PacketKind::kMulticastWrite);
  EXPECT_EQ(scene.fabric.sent[2].packet.payload(), SwitchClientScene::kBlock);
  scene.depart(2);
  ASSERT_EQ(scene.fabric.sent.size(), 4u);
  EXPECT_EQ(scene.fabric.sent[3].packet.kind(), net::PacketKind::kLoadReduce);
  EXPECT_EQ(scene.fabric.sent[3].packet.offset(), 256u);
  scene.answer(1);
  scene.answer(3);
  scene.depart(4);
  scene.depart(5);
  EXPECT_EQ(scene.told, "i") << "the multicasts are not acknowledged";
  for (const std::size_t i : {2, 4, 5}) scene.acknowledge(i, 7_us);
  scene.events.run();
  EXPECT_EQ(scene.told, "ic");
  EXPECT_EQ(scene.told_at, 7_us);
}

TEST(SwitchClient, AWarpAsksAgainWhenAllOfItsRunHasLeft) {
  // Two warps with runs of two blocks each.
  SwitchClientScene scene({.pulls = true, .window = 512_B, .run = 256_B});
  scene.start(UnitOp::kPull, 0, 1'024);
  EXPECT_EQ(scene.offsets(), switch_blocks(0, 4));
  scene.answer(0);
  EXPECT_EQ(scene.fabric.sent.size(), 4u) << "half of its run";
  scene.answer(1);
  EXPECT_EQ(scene.offsets(), (std::vector<std::uint32_t>{0, 128, 256, 384, 512, 640}))
      << "the next run of the first warp";
  for (std::size_t i = 2; i < 6; ++i) scene.answer(i);
  ASSERT_EQ(scene.fabric.sent.size(), 8u);
  scene.answer(6);
  EXPECT_EQ(scene.told, "");
  scene.answer(7);
  EXPECT_EQ(scene.told, "ic");
}

TEST(SwitchPort, AnswersWhatItIsAskedForWhenMemoryHasIt) {
  SwitchClientScene scene({});
  scene.ask(256);
  EXPECT_TRUE(scene.fabric.sent.empty());
  scene.events.run();
  ASSERT_EQ(scene.fabric.sent.size(), 1u);
  const net::Packet& reply = scene.fabric.sent[0].packet;
  EXPECT_EQ(reply.kind(), net::PacketKind::kReply);
  EXPECT_EQ(reply.offset(), 256u);
  EXPECT_EQ(reply.payload(), 128);
  EXPECT_GE(scene.events.now(), 300_ns);
  EXPECT_EQ(scene.replied_, 128u);
}

/// How long each of 16 blocks, asked for by itself, takes to be answered from L2.
std::vector<sim::Time> reply_times(sim::Time jitter, net::NodeId gpu) {
  SwitchClientScene scene({.reply_jitter = jitter, .gpu = gpu});
  MemorySystem::Cursor warm(Actor::kCollective, SwitchClientScene::kBuffer, 0, 2'048);
  scene.memory.read(warm, 2'048, 0_ns);
  std::vector<sim::Time> out;
  sim::Time at = 10_us;
  scene.fabric.on_send = [&](const net::Packet&) { out.push_back(scene.events.now() - at); };
  class Asker final : public sim::Handler {
   public:
    explicit Asker(SwitchClientScene& s) : scene_(s) {}
    void handle(std::uint32_t offset) override { scene_.ask(offset); }

   private:
    SwitchClientScene& scene_;
  } asker(scene);
  for (std::uint32_t block = 0; block < 16; ++block) {
    scene.events.schedule(at, sim::Priority::kWork, asker, block * SwitchClientScene::kBlock);
    scene.events.run();
    at += 10_us;
  }
  return out;
}

TEST(SwitchPort, MemoryAnswersSoonerOrLaterByTheJitter) {
  const std::vector<sim::Time> steady = reply_times(0_ns, 0);
  EXPECT_THAT(steady, testing::Each(steady.front())) << "from L2, with nothing in the way";
  const std::vector<sim::Time> varied = reply_times(1_us, 0);
  ASSERT_EQ(varied.size(), 16u);
  std::set<std::int64_t> different;
  sim::Time sum;
  for (const sim::Time t : varied) {
    EXPECT_GE(t, steady.front());
    EXPECT_LT(t, steady.front() + 1_us);
    different.insert(t.count_ps());
    sum += t - steady.front();
  }
  EXPECT_GE(different.size(), 15u);
  EXPECT_GT(sum, 250_ns * 16) << "half of it on average";
  EXPECT_LT(sum, 750_ns * 16);
  EXPECT_EQ(varied, reply_times(1_us, 0)) << "by chance, but always the same";
  EXPECT_NE(varied, reply_times(1_us, 1)) << "GPUs answer independently";
}

}  // namespace
}  // namespace infold::gpu
