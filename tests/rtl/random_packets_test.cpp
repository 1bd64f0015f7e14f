// Random packets through the hardware of a port and through the simulator's unit, in twenty configurations:
// no difference, and every situation met. INFOLD_RTL_PACKETS says how many packets in all; the ordinary run
// is a reduced one.
#include <cstdlib>
#include <iostream>

#include "VUnitFp32.h"
#include "VUnitWire.h"
#include "lockstep.h"

double sc_time_stamp() {
  return 0;
}

namespace infold::rtl {
namespace {

using inc::TableFull;
using Fp32 = Dut<VUnitFp32, 16>;
using Wire = Dut<VUnitWire, 16>;

/// What the hardware was built for (CMakeLists.txt): the payload, and how a sum is kept.
template <class Hardware>
inc::IncSpec spec_of(const Setting& s) {
  const bool fp32 = std::is_same_v<Hardware, Fp32>;
  inc::IncSpec spec;
  spec.payload = sim::Bytes{fp32 ? 128 : 64};
  spec.table_bytes = sim::Bytes{1 << 20};
  spec.table_entries = s.entries;
  spec.alu_rate = sim::Bandwidth::bytes_per_s(16'000'000'000);  // a beat of 16 B per nanosecond
  spec.latency = sim::Time::ns(static_cast<std::int64_t>(kLatency));
  spec.result_buffer = s.uneven ? sim::Bytes{1 << 20} : spec.payload * s.results;
  spec.table_full = s.table_full;
  spec.patience = sim::Time::us(1'000'000);
  spec.accumulate = fp32 ? inc::Accumulate::kFp32 : inc::Accumulate::kWire;
  spec.levels = s.levels;
  return spec;
}

std::vector<Setting> ten_settings() {
  using enum TableFull;
  std::vector<Setting> all;
  all.push_back({.name = "stall, small table", .table_full = kStall, .entries = 2, .active = 5});
  all.push_back({.name = "bypass, small table", .table_full = kBypass, .entries = 2, .active = 6});
  all.push_back({.name = "evict, one entry", .table_full = kEvict, .entries = 1, .results = 2, .active = 4});
  all.push_back({.name = "evict, slow outputs",
                 .table_full = kEvict,
                 .entries = 4,
                 .results = 1,
                 .credits = 1,
                 .slow = 60,
                 .active = 8,
                 .multicasts = 3});
  all.push_back({.name = "stall, slow outputs",
                 .table_full = kStall,
                 .entries = 3,
                 .results = 1,
                 .credits = 1,
                 .slow = 90,
                 .active = 4,
                 .to_home = true});
  all.push_back({.name = "pull and push",
                 .table_full = kEvict,
                 .entries = 3,
                 .results = 2,
                 .slow = 8,
                 .active = 7,
                 .pull = 50,
                 .remind = 2});
  all.push_back({.name = "leaf, port of a GPU",
                 .place = Place::kLeaf,
                 .table_full = kBypass,
                 .entries = 3,
                 .slow = 10,
                 .active = 7,
                 .pull = 40,
                 .multicasts = 10,
                 .remind = 3});
  all.push_back({.name = "leaf, port up",
                 .place = Place::kLeaf,
                 .table_full = kEvict,
                 .entries = 2,
                 .results = 2,
                 .slow = 10,
                 .active = 6,
                 .pull = 50,
                 .multicasts = 10,
                 .remind = 3,
                 .up_port = true});
  all.push_back({.name = "root of a tree, packets of many sizes",
                 .place = Place::kRoot,
                 .table_full = kStall,
                 .entries = 4,
                 .active = 5,
                 .hard = 5,
                 .uneven = true});
  all.push_back({.name = "top alone sums",
                 .place = Place::kLeaf,
                 .table_full = kStall,
                 .entries = 4,
                 .slow = 20,
                 .active = 6,
                 .pull = 30,
                 .multicasts = 5,
                 .levels = inc::Levels::kTop});
  return all;
}

std::uint64_t packets_in_all() {
  const char* wanted = std::getenv("INFOLD_RTL_PACKETS");
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : 60'000;
}

template <class Hardware>
Compared compare(const Setting& s, std::uint64_t packets, std::uint64_t seed, Coverage& coverage) {
  const auto run = std::make_unique<Lockstep<Hardware>>(s, WorldShape{s.place, s.gpus, spec_of<Hardware>(s)},
                                                        seed, coverage);
  const Compared c = run->run(packets);
  EXPECT_EQ(c.differences, 0U) << run->why();
  std::cout << "  " << s.name << ": " << c.packets << " packets, " << c.copies << " copies, " << c.cycles
            << " cycles, " << c.differences << " differences\n";
  return c;
}

TEST(RandomPackets, HardwareAndSimulatorDoTheSameInTwentyConfigurations) {
  Coverage coverage(coverage_bins());
  std::uint64_t packets = 0;
  std::uint64_t differences = 0;
  const std::uint64_t each = packets_in_all() / 20;
  std::uint64_t seed = 1;
  for (const Setting& s : ten_settings()) {
    for (const Compared& c :
         {compare<Fp32>(s, each, seed, coverage), compare<Wire>(s, each, seed + 1, coverage)}) {
      packets += c.packets;
      differences += c.differences;
    }
    seed += 2;
  }
  EXPECT_GE(packets, each * 20);
  for (const auto& [bin, count] : coverage.counts()) std::cout << "  met: " << bin << ": " << count << "\n";
  EXPECT_EQ(coverage.empty(), "") << "never met, so never compared";
  std::cout << packets << " packets, 20 configurations, " << differences << " differences\n";
}

// With room for everything both keep their own time: a sum is at the outputs as many cycles after the end of
// adding as inc.latency says, or later where another is being sent or where a beat waited for the write of
// the one before it.
template <class Hardware>
Compared compare_times(std::uint64_t seed) {
  Coverage coverage(coverage_bins());
  const Setting s{.name = "own time",
                  .entries = 8,
                  .results = 4,
                  .credits = 15,
                  .load = 60,
                  .active = 4,
                  .own_time = true};
  const Compared c = compare<Hardware>(s, 4'000, seed, coverage);
  EXPECT_GT(c.timed, 400U);
  EXPECT_EQ(c.early, 0U) << "sums that leave before the simulator has them";
  std::cout << "  " << c.timed << " sums, " << c.exact << " in the very cycle, the latest " << c.latest
            << " cycles later\n";
  return c;
}
TEST(RandomPackets, SumsLeaveInTheCycleThatTheSimulatorExpects) {
  const Compared c = compare_times<Fp32>(101);
  EXPECT_GT(c.exact, c.timed * 95 / 100);
  EXPECT_LE(c.latest, 8U) << "a sum waits for one other, of 8 beats";
}
// A packet of 4 beats is shorter than the 6 cycles after which a beat can be read again: two cycles are lost
// with each contribution that follows one to the same block directly.
TEST(RandomPackets, ShortPacketsLoseTwoCyclesForEachContributionBehindItsLike) {
  const Compared c = compare_times<Wire>(102);
  EXPECT_GT(c.exact, 0U);
  EXPECT_GT(c.latest, 8U);
  EXPECT_LE(c.latest, 7U * 2 + 4);
}

}  // namespace
}  // namespace infold::rtl
