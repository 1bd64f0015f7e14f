// Who goes first where several want the same link: everybody in turn, and data and control apart.
#include <algorithm>
#include <map>

#include "traffic_help.h"

namespace infold::net {
namespace {

/// The most that two flows ever differ while both have packets left, in arrivals at `station`.
int worst_lead(const Station& station, const std::map<std::uint32_t, int>& sent) {
  std::map<std::uint32_t, int> seen;
  int worst = 0;
  for (const auto& a : station.arrivals) {
    ++seen[a.packet.flow()];
    const bool all_left =
        std::all_of(sent.begin(), sent.end(), [&](const auto& s) { return seen[s.first] < s.second; });
    if (!all_left) break;
    const auto [least, most] = std::minmax_element(
        seen.begin(), seen.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
    worst = std::max(worst, most->second - least->second);
  }
  return worst;
}

void send(Scene& scene, int from, int to, std::uint32_t flow, std::uint32_t sender, int count) {
  for (int i = 0; i < count; ++i) {
    Packet p = write(from, to);
    p.set_flow(flow);
    scene.send(p, sender);
  }
}

TEST(Fairness, SendersOfAGpuTakeTurnsPacketByPacket) {
  Scene scene(one_switch(), 2);
  send(scene, 0, 1, 1, 0, 100);
  send(scene, 0, 1, 2, 5, 60);
  send(scene, 0, 1, 3, Network::kSenders - 1, 80);
  scene.events.run();
  EXPECT_LE(worst_lead(scene[1], {{1, 100}, {2, 60}, {3, 80}}), 1);
  EXPECT_EQ(scene[1].arrivals.size(), 240u);
}

TEST(Fairness, ATrainTakesTurnsLikeSinglePackets) {
  Scene scene(one_switch(), 2);
  for (int i = 0; i < 10; ++i) {
    Packet p = write(0, 1, 1'024, 8);
    p.set_flow(1);
    scene.send(p, 0);
  }
  send(scene, 0, 1, 2, 1, 80);
  scene.events.run();
  EXPECT_LE(worst_lead(scene[1], {{1, 80}, {2, 80}}), 1);
}

TEST(Fairness, InputsOfASwitchTakeTurns) {
  Scene scene(one_switch(), 4);
  send(scene, 0, 3, 0, 0, 300);
  send(scene, 1, 3, 1, 0, 300);
  send(scene, 2, 3, 2, 0, 300);
  scene.events.run();
  EXPECT_LE(worst_lead(scene[3], {{0, 300}, {1, 300}, {2, 300}}), 1);
}

TEST(Fairness, AnInputWithManySendersGetsNoMoreThanOneWithOne) {
  Scene scene(one_switch(), 3);
  for (std::uint32_t sender = 0; sender < 8; ++sender) send(scene, 0, 2, 0, sender, 50);
  send(scene, 1, 2, 1, 0, 400);
  scene.events.run();
  EXPECT_LE(worst_lead(scene[2], {{0, 400}, {1, 400}}), 1);
}

TEST(Fairness, BurstsShareWithinOneBurst) {
  Scene scene(one_switch(), 3, Cut::kBursts);
  for (int i = 0; i < 40; ++i) {
    for (int gpu : {0, 1}) {
      Packet p = write(gpu, 2, 4'096, 32);
      p.set_flow(static_cast<std::uint32_t>(gpu));
      scene.send(p, 0);
    }
  }
  scene.events.run();
  EXPECT_LE(worst_lead(scene[2], {{0, 40}, {1, 40}}), 1);
}

TEST(Fairness, MoreSendersThanTurnsShareThem) {
  Scene scene(one_switch(), 2);
  send(scene, 0, 1, 1, 3, 50);
  send(scene, 0, 1, 2, 3 + Network::kSenders, 50);
  send(scene, 0, 1, 3, 4, 100);
  scene.events.run();
  EXPECT_EQ(scene[1].arrivals.size(), 200u);
  std::vector<std::uint32_t> first;
  for (std::size_t i = 0; i < 100; ++i) first.push_back(scene[1].arrivals[i].packet.flow());
  EXPECT_EQ(std::count(first.begin(), first.end(), 3u), 50) << "half the turns, not a third of them";
}

TEST(Fairness, ThroughTrafficAndAGpusOwnTakeTurns) {
  FabricSpec spec = one_switch();
  spec.topology = Topology::kRing;
  Scene scene(spec, 8);
  send(scene, 0, 2, 0, 0, 200);  // passes through GPU 1
  send(scene, 1, 2, 1, 0, 200);
  scene.events.run();
  EXPECT_NEAR(static_cast<double>(scene[2].arrivals.back().at.count_ps()),
              static_cast<double>((kPacketTime * 400).count_ps()), 400'000.0);
  // The through traffic starts a latency later; from then on they alternate.
  std::map<std::uint32_t, int> in_the_middle;
  for (std::size_t i = 50; i < 150; ++i) ++in_the_middle[scene[2].arrivals[i].packet.flow()];
  EXPECT_NEAR(in_the_middle[0], 50, 1);
}

TEST(Classes, ControlPassesDataThatWaitsForRoom) {
  FabricSpec spec = one_switch();
  spec.switch_chip.buffer = 1_KiB;
  Scene scene(spec, 2);
  scene[1].hold = [&](const Packet& p) {
    return p.kind() == PacketKind::kWrite ? 1'000_us : scene.events.now();
  };
  send(scene, 0, 1, 1, 0, 100);
  scene.at(100_us, [&] { scene.send(signal(0, 1), 0); });
  scene.events.run();
  const auto flag = std::find_if(scene[1].arrivals.begin(), scene[1].arrivals.end(),
                                 [](const auto& a) { return a.packet.kind() == PacketKind::kSignal; });
  ASSERT_NE(flag, scene[1].arrivals.end());
  EXPECT_EQ(flag->at, 100_us + 40_ps * 24 + kWay);
  EXPECT_LT(flag - scene[1].arrivals.begin(), 20) << "data must be stuck for this test to say anything";
  EXPECT_EQ(scene[1].arrivals.size(), 101u);
}

TEST(Classes, DataPassControlThatWaitsForRoom) {
  FabricSpec spec = one_switch();
  spec.switch_chip.buffer = 1_KiB;
  spec.link.latency = 100_us;
  Scene scene(spec, 2);
  for (int i = 0; i < 200; ++i) scene.send(signal(0, 1), 0);  // several buffers full
  send(scene, 0, 1, 1, 1, 6);                                 // less than one
  scene.events.run();
  const auto last_data = std::find_if(scene[1].arrivals.rbegin(), scene[1].arrivals.rend(),
                                      [](const auto& a) { return a.packet.kind() == PacketKind::kWrite; });
  EXPECT_LT(last_data->at, 210_us) << "two links";
  EXPECT_GT(scene[1].arrivals.back().at, 400_us) << "and a credit's way back at least";
  EXPECT_EQ(scene[1].arrivals.size(), 206u);
}

TEST(Classes, ShareALinkInTurn) {
  Scene scene(one_switch(), 2);
  for (int i = 0; i < 50; ++i) scene.send(signal(0, 1), 0);
  send(scene, 0, 1, 1, 0, 50);
  scene.events.run();
  auto arrivals = scene[1].arrivals;  // told of control in advance
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const auto& a, const auto& b) { return a.at < b.at; });
  int lead = 0;
  for (std::size_t i = 0; i < 98; ++i) {
    lead += arrivals[i].packet.kind() == PacketKind::kWrite ? 1 : -1;
    ASSERT_LE(std::abs(lead), 2) << i;
  }
}

}  // namespace
}  // namespace infold::net
