// NICs: how long a message takes, in which order messages land, and what limits their rate.
#include "gpu/nic/nic.h"

#include <gtest/gtest.h>

#include <vector>

#include "gpu/machine.h"
#include "support/results.h"

namespace infold::gpu {
namespace {

using namespace sim::literals;

/// Notes what it is told.
struct Told final : MessageClient {
  explicit Told(sim::EventQueue& of) : events(of) {}
  void message_sent(std::uint32_t cookie) override { sent.push_back({cookie, events.now()}); }
  void piece_landed(std::uint32_t, std::uint32_t, std::uint32_t bytes) override { pieces += bytes; }
  void message_landed(std::uint32_t cookie) override { landed.push_back({cookie, events.now()}); }
  struct At {
    std::uint32_t cookie;
    sim::Time at;
  };
  sim::EventQueue& events;
  std::vector<At> sent;
  std::vector<At> landed;
  std::uint64_t pieces = 0;
};

MachineSpec two_nodes() {
  MachineSpec spec;
  spec.nodes = 2;
  spec.gpus = 2;
  return spec;
}

class Nics : public testing::Test {
 protected:
  Nics() : Nics(two_nodes()) {}
  explicit Nics(const MachineSpec& spec)
      : machine(MachinePlan::make(spec).value(), {}), told(machine.events()) {}

  Message message(sim::Bytes bytes, std::uint32_t cookie, int from = 0, int to = 2) {
    Message m;
    m.to = to;
    m.here.buffer = machine.gpu(from).core().addresses().buffer(bytes);
    m.there.buffer = machine.gpu(to).core().addresses().buffer(bytes);
    m.bytes = bytes;
    m.client = &told;
    m.cookie = cookie;
    return m;
  }
  void run() {
    while (machine.events().run(1 << 20)) {
    }
    EXPECT_TRUE(machine.quiet());
  }

  Machine machine;
  Told told;
};

TEST_F(Nics, ASmallMessageTakesItsLatencies) {
  const NicSpec nic;
  machine.nic(0).write(machine.nic(0).take_queue(), message(64_B, 7));
  run();
  ASSERT_EQ(told.landed.size(), 1u);
  // The request, a read over PCIe, two cables and the leaf between them, a write over PCIe.
  const sim::Time least = nic.latency + nic.pcie_latency * 3 + 100_ns * 2 + 200_ns;
  EXPECT_GE(told.landed[0].at, least);
  EXPECT_LT(told.landed[0].at, least + 1500_ns) << "and what memories take at both ends";
  ASSERT_EQ(told.sent.size(), 1u);
  EXPECT_EQ(told.sent[0].cookie, 7u);
  EXPECT_EQ(told.pieces, 0u) << "nobody asked for them";
}

TEST_F(Nics, ALargeMessageMovesAtTheRateOfThePort) {
  machine.nic(0).write(machine.nic(0).take_queue(), message(64_MiB, 0));
  run();
  const double gbps = static_cast<double>((64_MiB).count()) / told.landed.at(0).at.in_s() * 1e-9;
  EXPECT_NEAR(gbps, 50 * 4096.0 / 4122, 0.2);
}

TEST_F(Nics, MessagesOfAQueueLandInOrderAndQueuesShareThePort) {
  Nic& nic = machine.nic(0);
  const Nic::QueueId one = nic.take_queue();
  const Nic::QueueId other = nic.take_queue();
  for (std::uint32_t i = 0; i < 4; ++i) nic.write(one, message(1_MiB, i));
  for (std::uint32_t i = 10; i < 14; ++i) nic.write(other, message(1_MiB, i, 0, 3));
  run();
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (const Told::At& l : told.landed) (l.cookie < 10 ? first : second).push_back(l.cookie);
  EXPECT_EQ(first, (std::vector<std::uint32_t>{0, 1, 2, 3}));
  EXPECT_EQ(second, (std::vector<std::uint32_t>{10, 11, 12, 13}));
  EXPECT_LT((told.landed[7].at - told.landed[6].at).in_us(), 6) << "they took turns, and end within a window";
}

TEST_F(Nics, PiecesAreToldOfWhereSomethingWaitsForThem) {
  Message m = message(100'000_B, 0);
  m.pieces = true;
  machine.nic(0).write(machine.nic(0).take_queue(), m);
  run();
  EXPECT_EQ(told.pieces, 100'000u);
}

TEST_F(Nics, TheBytesThatCrossedPcieAreCounted) {
  machine.nic(0).write(machine.nic(0).take_queue(), message(12'345_B, 0));
  run();
  EXPECT_EQ(machine.nic(0).read_bytes(), 12'345u);
  EXPECT_EQ(machine.nic(2).written_bytes(), 12'345u);
  EXPECT_EQ(machine.nic(2).read_bytes(), 0u);
}

class SlowPcie : public Nics {
 protected:
  SlowPcie() : Nics(spec()) {}
  static MachineSpec spec() {
    MachineSpec s = two_nodes();
    s.nic.pcie_rate = 10_GBps;
    return s;
  }
};

TEST_F(SlowPcie, LimitsWhatTheNicSends) {
  machine.nic(0).write(machine.nic(0).take_queue(), message(16_MiB, 0));
  run();
  const double gbps = static_cast<double>((16_MiB).count()) / told.landed.at(0).at.in_s() * 1e-9;
  EXPECT_NEAR(gbps, 10, 0.1);
}

}  // namespace
}  // namespace infold::gpu
