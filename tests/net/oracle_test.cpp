// The fast network against the reference: any load on any machine arrives at the same times, to the
// picosecond.
#include "oracle/worlds.h"
#include "support/seeds.h"

namespace infold::net {
namespace {

using oracle::Delivery;
using oracle::FastWorld;
using oracle::Load;
using oracle::ReferenceWorld;
using oracle::TakeIn;

enum class Errors { kNone, kSome };

/// A machine on which a packet takes some time from chip to chip, and some on a wire: what takes none happens
/// in one picosecond, in no order that anything says.
support::Fabric oracle_fabric(Topology topology, sim::Random& random, Errors errors) {
  support::Fabric fabric = support::random_fabric(topology, random);
  FabricSpec& s = fabric.spec;
  s.link.rate = support::any_of(random, {sim::Bandwidth::gb_per_s(3), sim::Bandwidth::gb_per_s(25),
                                         sim::Bandwidth::bytes_per_s(53'333'333'333)});
  s.link.latency = sim::Time::ps(support::any_of(random, {1, 20'000, 33'333, 250'000}));
  s.packet.ack = support::any_of(random, {sim::Bytes{16}, sim::Bytes{20}});
  if (random.below(2) == 0)
    s.switch_chip.buffer = WireCost(s.packet).largest_packet() * support::pick(random, 1, 9);
  s.switch_chip.buffer = sim::max(s.switch_chip.buffer, sim::Bytes{512});
  if (errors == Errors::kSome) s.link.error_distance = sim::Bytes{support::pick(random, 300, 20'000)};
  return fabric;
}

std::vector<Delivery> reference_times(const support::Fabric& fabric, const Blueprint& b, std::uint64_t seed,
                                      bool bursts, std::int64_t most) {
  Load load(fabric, seed, most);
  ReferenceWorld world(b, fabric.spec, bursts, load);
  EXPECT_TRUE(world.run()) << "the reference has work left";
  return load.sorted();
}
std::vector<Delivery> fast_times(const support::Fabric& fabric, const Blueprint& b, std::uint64_t seed,
                                 bool bursts, std::int64_t most, TakeIn take_in) {
  Load load(fabric, seed, most);
  FastWorld world(b, fabric.spec, bursts, take_in, load);
  EXPECT_TRUE(world.run()) << "the network has work left";
  EXPECT_TRUE(load.all_sent());
  return load.sorted();
}
/// What fits as one, and is not so much that a load takes long.
std::int64_t most_at_once(const support::Fabric& fabric, const Blueprint& b) {
  sim::EventQueue events;
  const Routes routes = routes_of(b);
  const sim::Bytes fits = Network(events, b, routes, fabric.spec, true).traits().max_burst;
  return sim::min(fits, fabric.spec.packet.payload * 24).count();
}

void expect_same(const std::vector<Delivery>& fast, const std::vector<Delivery>& slow) {
  const auto [f, s] = std::ranges::mismatch(fast, slow);
  if (f == fast.end() && s == slow.end()) return;
  ADD_FAILURE() << "differ first at delivery " << f - fast.begin() << " of " << slow.size() << ": "
                << (f == fast.end() ? Delivery{} : *f) << " instead of "
                << (s == slow.end() ? Delivery{} : *s);
}

class Oracle : public testing::TestWithParam<Topology> {
 protected:
  void compare(std::uint64_t seed, bool bursts, TakeIn take_in, Errors errors) {
    sim::Random random(sim::mix(seed * 31 + static_cast<std::uint64_t>(GetParam())));
    const support::Fabric fabric = oracle_fabric(GetParam(), random, errors);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", speed-up " +
                 std::to_string(fabric.spec.switch_chip.speedup));
    const Blueprint b = drawn(fabric.spec, fabric.gpus);
    const std::int64_t most = most_at_once(fabric, b);
    expect_same(fast_times(fabric, b, seed, bursts, most, take_in),
                reference_times(fabric, b, seed, bursts, most));
  }
};
INSTANTIATE_TEST_SUITE_P(Topologies, Oracle, testing::ValuesIn(support::every_topology()),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(Oracle, PacketsArriveAtTheSameTimes) {
  const auto [first, end] = support::seeds(40);
  for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    compare(seed, false, TakeIn::kPrompt, Errors::kNone);
}
TEST_P(Oracle, PacketsTakenInLateArriveAtTheSameTimes) {
  const auto [first, end] = support::seeds(40);
  for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    compare(seed, false, TakeIn::kLate, Errors::kNone);
}
TEST_P(Oracle, BurstsArriveAtTheSameTimes) {
  const auto [first, end] = support::seeds(40);
  for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    compare(seed, true, TakeIn::kPrompt, Errors::kNone);
}
TEST_P(Oracle, WhatBitErrorsDelayArrivesAtTheSameTimes) {
  const auto [first, end] = support::seeds(20);
  for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed)
    compare(seed, seed % 2 == 0, TakeIn::kPrompt, Errors::kSome);
}

}  // namespace
}  // namespace infold::net
