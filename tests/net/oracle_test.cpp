// The fast network against the reference: any load on any machine arrives at the same times, to the
// picosecond.
#include <gtest/gtest.h>

#include "oracle/worlds.h"
#include "support/seeds.h"

namespace infold::net {
namespace {

using oracle::Delivery;
using oracle::Errors;
using oracle::FastWorld;
using oracle::Links;
using oracle::Loads;
using oracle::Machine;
using oracle::MachineDrawer;
using oracle::ReferenceWorld;
using oracle::TakeIn;
using oracle::Units;

enum class Sent { kAsPackets, kAsBursts };

std::vector<Delivery> reference_times(const Machine& machine, std::uint64_t seed, bool bursts) {
  Loads loads(machine, seed, bursts);
  ReferenceWorld world(machine, bursts, loads);
  EXPECT_TRUE(world.run()) << "the reference has work left";
  return loads.sorted();
}
std::vector<Delivery> fast_times(const Machine& machine, std::uint64_t seed, bool bursts, TakeIn take_in) {
  Loads loads(machine, seed, bursts);
  FastWorld world(machine, bursts, take_in, loads);
  EXPECT_TRUE(world.run()) << "the network has work left";
  EXPECT_TRUE(loads.plain.all_sent());
  return loads.sorted();
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
  void compare(std::uint64_t seed, Sent sent, TakeIn take_in, Links links, Units units,
               Errors errors = Errors::kNone) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Machine machine = MachineDrawer(GetParam(), seed, links, units, errors).draw();
    const bool bursts = sent == Sent::kAsBursts;
    expect_same(fast_times(machine, seed, bursts, take_in), reference_times(machine, seed, bursts));
  }
  /// `in_ci` seeds, unless told otherwise (support/seeds.h).
  template <class Compare>
  void for_seeds(std::uint64_t in_ci, Compare compare) {
    const auto [first, end] = support::seeds(in_ci);
    for (std::uint64_t seed = first; seed < end && !HasFailure(); ++seed) compare(seed);
  }
};
INSTANTIATE_TEST_SUITE_P(Topologies, Oracle, testing::ValuesIn(support::every_topology()),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(Oracle, PacketsArriveAtTheSameTimes) {
  for_seeds(
      20, [&](auto seed) { compare(seed, Sent::kAsPackets, TakeIn::kPrompt, Links::kAlike, Units::kNone); });
}
TEST_P(Oracle, PacketsTakenInLateArriveAtTheSameTimes) {
  for_seeds(20,
            [&](auto seed) { compare(seed, Sent::kAsPackets, TakeIn::kLate, Links::kAlike, Units::kNone); });
}
TEST_P(Oracle, BurstsArriveAtTheSameTimes) {
  for_seeds(20,
            [&](auto seed) { compare(seed, Sent::kAsBursts, TakeIn::kPrompt, Links::kAlike, Units::kNone); });
}
TEST_P(Oracle, WhatBitErrorsDelayArrivesAtTheSameTimes) {
  for_seeds(10, [&](auto seed) {
    compare(seed, seed % 2 == 0 ? Sent::kAsBursts : Sent::kAsPackets, TakeIn::kPrompt, Links::kAlike,
            Units::kNone, Errors::kSome);
  });
}

TEST_P(Oracle, PacketsOverMixedLinksArriveAtTheSameTimes) {
  for_seeds(20, [&](auto seed) {
    compare(seed, Sent::kAsPackets, seed % 2 == 0 ? TakeIn::kPrompt : TakeIn::kLate, Links::kMixed,
            Units::kNone);
  });
}
TEST_P(Oracle, BurstsOverMixedLinksArriveAtTheSameTimes) {
  for_seeds(20, [&](auto seed) {
    compare(seed, Sent::kAsBursts, TakeIn::kPrompt, Links::kMixed, Units::kNone,
            seed % 4 == 0 ? Errors::kSome : Errors::kNone);
  });
}

/// Topologies whose GPUs are joined by switches only.
class OracleOfUnits : public Oracle {};
INSTANTIATE_TEST_SUITE_P(Topologies, OracleOfUnits,
                         testing::Values(Topology::kSwitchPlanes, Topology::kFatTree, Topology::kPcieTree),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(OracleOfUnits, PacketsArriveAtTheSameTimes) {
  for_seeds(20, [&](auto seed) {
    compare(seed, Sent::kAsPackets, seed % 2 == 0 ? TakeIn::kPrompt : TakeIn::kLate, Links::kAlike,
            Units::kEverySwitch);
  });
}
TEST_P(OracleOfUnits, BurstsArriveAtTheSameTimes) {
  for_seeds(20, [&](auto seed) {
    compare(seed, Sent::kAsBursts, TakeIn::kPrompt, Links::kAlike, Units::kEverySwitch);
  });
}
TEST_P(OracleOfUnits, WhatGoesOverMixedLinksArrivesAtTheSameTimes) {
  for_seeds(20, [&](auto seed) {
    compare(seed, seed % 2 == 0 ? Sent::kAsBursts : Sent::kAsPackets, TakeIn::kPrompt, Links::kMixed,
            Units::kEverySwitch, seed % 4 < 2 ? Errors::kSome : Errors::kNone);
  });
}

}  // namespace
}  // namespace infold::net
