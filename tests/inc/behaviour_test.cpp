// One behaviour of the units each: times, orders, precision, sharing, safety valves, and what they report.
#include <gmock/gmock.h>

#include "world_help.h"

namespace infold::inc {
namespace {

using testing::HasSubstr;

Job all(int gpus, std::size_t bytes) {
  Job job;
  job.members = first_gpus(gpus);
  job.bytes = bytes;
  return job;
}

TEST(Timing, APushTakesTwoLinksTheSwitchTheAlusAndTheUnit) {
  IncSpec spec;
  spec.latency = 10_ns;
  World world(spec, one_switch(), 4);
  const RegionId id = world.start(all(4, 128));
  world.events.run();
  world.expect_done(all(4, 128), id);
  const sim::Time packet = 40_ps * 144;
  const sim::Time add = 40_ps * 128;  // 25 GB/s
  EXPECT_EQ(world.finished(), packet + 100_ns + 50_ns + add * 4 + 10_ns + packet + 100_ns);
}

TEST(Timing, SlowAlusLimitAPort) {
  IncSpec spec;
  spec.alu_rate = 1_GBps;
  World world(spec, one_switch(), 4, false);
  world.start(all(4, 128));
  world.events.run();
  EXPECT_GT(world.finished(), 128_ns * 4);
}

TEST(Timing, ALimitOfTheWholeSwitchIsSharedByItsPorts) {
  sim::Time took[2];
  for (const bool limited : {false, true}) {
    IncSpec spec;
    if (limited) spec.switch_alu_rate = 25_GBps;
    World world(spec, one_switch(), 4, false);
    world.start(all(4, 64 * 128));
    world.events.run();
    took[limited] = world.finished();
  }
  EXPECT_GT(took[1], 40_ps * (4 * 64 * 128)) << "all contributions one after the other";
  EXPECT_LT(took[0], took[1] / 2);
}

TEST(Timing, WhatIsPulledTakesARoundTripMore) {
  Job push = all(4, 128);
  Job pull = push;
  pull.style = Style::kPull;
  IncSpec spec;
  World a(spec, one_switch(), 4);
  a.start(push);
  a.events.run();
  World b(spec, one_switch(), 4);
  b.start(pull);
  b.events.run();
  EXPECT_GT(b.finished(), a.finished() + 250_ns * 2);
}

TEST(Tables, AnEntryLivesFromTheFirstContributionToTheLast) {
  // A GPU that is late by s leaves s / (16 x time of a packet with its acknowledgement) sums open in each of
  // the 16 ports: Little's law.
  for (const sim::Time skew : {1_us, 2_us, 4_us}) {
    IncSpec spec;
    spec.table_bytes = 64_KiB;
    World world(spec, klenk(), 16, false);
    Job job = all(16, std::size_t{2} << 20);
    job.starts.assign(16, {});
    job.starts[3] = skew;
    world.start(job);
    world.events.run();
    const double predicted = static_cast<double>(skew.count_ps()) / (16 * 40.0 * 144);
    EXPECT_NEAR(static_cast<double>(world.units.totals().table_peak_entries), predicted, 2 + 0.2 * predicted);
  }
}

/// Sums that are complete stay in the table until there is room for them in front of the outputs.
TEST(Tables, ResultsWithoutRoomKeepTheirEntries) {
  const auto run = [](sim::Bytes room) {
    IncSpec spec;
    spec.table_bytes = 64_KiB;
    spec.result_buffer = room;
    World world(spec, one_switch(), 4, false);
    world.gpu[2]->takes = 20_us;
    world.start(all(4, std::size_t{1} << 16));
    world.events.run();
    return world.units.totals().table_peak_entries;
  };
  const std::uint64_t tight = run(128_B);
  const std::uint64_t ample = run(64_KiB);
  EXPECT_GT(tight, 2 * ample) << tight << " and " << ample << " entries";
}

/// A sender may forget a contribution when it is acknowledged, wherever it is summed.
TEST(Tables, EveryContributionIsAcknowledgedOnceWhateverBecomesOfIt) {
  for (const TableFull policy : {TableFull::kStall, TableFull::kBypass, TableFull::kEvict}) {
    SCOPED_TRACE(sim::name_of(policy));
    IncSpec spec;
    spec.table_bytes = spec.payload;
    spec.table_full = policy;
    World world(spec, one_switch(), 4);
    Job job = all(4, 16'384);
    job.result_to = ResultTo::kHome;  // no multicast of results, which would be acknowledged too
    job.starts = {0_ns, 0_ns, 0_ns, 5_us};
    world.start(job);
    world.events.run();
    std::uint64_t acks = 0;
    for (const auto& g : world.gpu) acks += g->acks;
    EXPECT_EQ(acks, 4 * 16'384u / 128);
    EXPECT_EQ(world.units.totals().bypasses > 0, policy == TableFull::kBypass);
    if (policy == TableFull::kEvict) {
      EXPECT_GT(world.units.totals().evictions, 0U);
    }
  }
}

TEST(Tables, EvictionsEndWhereTheTableHoldsTheSkew) {
  std::vector<std::uint64_t> evictions;
  for (const sim::Bytes table : {512_B, 1_KiB, 4_KiB, 16_KiB}) {
    IncSpec spec;
    spec.table_bytes = table;
    spec.table_full = TableFull::kEvict;
    World world(spec, klenk(), 16, false);
    Job job = all(16, std::size_t{1} << 18);
    job.starts.assign(16, {});
    job.starts[3] = 1_us;  // about eleven entries a port
    const RegionId id = world.start(job);
    world.events.run();
    world.expect_done(job, id);
    evictions.push_back(world.units.totals().evictions);
  }
  EXPECT_GT(evictions[0], 1'000u);
  EXPECT_GE(evictions[0], evictions[1]);
  EXPECT_EQ(evictions[2], 0u);
  EXPECT_EQ(evictions[3], 0u);
}

TEST(Tables, StallingNeedsNoHomeGpuAndBypassingNoWait) {
  Job job = all(8, 200 * 128);
  job.starts.assign(8, {});
  job.starts[0] = 20_us;
  const auto run = [&](TableFull full) {
    IncSpec spec;
    spec.table_bytes = 256_B;
    spec.table_full = full;
    World world(spec, one_switch(), 8);
    const RegionId id = world.start(job);
    world.events.run();
    world.expect_done(job, id);
    return world.units.totals();
  };
  const auto stall = run(TableFull::kStall);
  EXPECT_GT(stall.stalls, 0u);
  EXPECT_EQ(stall.bypasses + stall.evictions, 0u);
  const auto bypass = run(TableFull::kBypass);
  EXPECT_EQ(bypass.stalls, 0u);
  EXPECT_GT(bypass.bypasses, 100u);
}

// Ranks that send in opposite orders fill the input buffers with contributions that wait for each other's.
TEST(Safety, RanksThatSendInDifferentOrdersDoNotBlockForever) {
  for (const SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
    IncSpec spec;
    spec.table_bytes = 128_B;
    spec.patience = 20_us;
    spec.order = order;
    net::FabricSpec fabric = one_switch();
    fabric.switch_chip.buffer = 1_KiB;
    World world(spec, fabric, 4);
    Job job = all(4, 128 * 128);
    job.backwards = true;
    const RegionId id = world.start(job);
    world.events.run();
    world.expect_done(job, id);
    world.expect_quiet();
    EXPECT_GT(world.units.totals().bypasses, 0u) << "or the test says nothing";
  }
}

TEST(Safety, ARankThatNeverComesIsNamed) {
  IncSpec spec;
  World world(spec, one_switch(), 4);
  Job job = all(4, 128);
  job.starts = {0_us, 0_us, 1'000'000'000_us, 0_us};
  world.start(job);
  for (int i = 0; i < 60 && world.units.totals().contributions < 3; ++i) world.events.run(1);
  const auto waits = world.units.who_waits();
  ASSERT_EQ(waits.size(), 1u);
  EXPECT_THAT(waits[0], HasSubstr("block at 0 of region 0 has 3 of 4 contributions; nothing from gpu2"));
}

/// The bits of everything that rank 0 received.
std::vector<std::byte> bits(IncSpec spec, sim::DataType type, sim::Time skew, std::uint64_t seed,
                            const net::FabricSpec& fabric = one_switch()) {
  World world(spec, fabric, 8);
  Job job = all(8, 40 * 128);
  job.type = type;
  job.value = [](int rank, std::size_t e) {
    return static_cast<double>(sim::mix(e * 8 + static_cast<std::size_t>(rank)) % 100'003) / 7'919.0;
  };
  sim::Random random(seed);
  for (int r = 0; r < 8; ++r)
    job.starts.push_back(sim::Time::ps(
        static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(skew.count_ps()) + 1))));
  const RegionId id = world.start(job);
  world.events.run();
  world.expect_quiet();
  for (const auto& g : world.gpu)
    EXPECT_EQ(g->member(id).out, world.gpu[0]->member(id).out) << "all get the same";
  return world.gpu[0]->member(id).out;
}

TEST(Arithmetic, RankOrderGivesTheSameBitsWhateverArrivesFirstAndWhateverTheTable) {
  IncSpec spec;
  spec.order = SumOrder::kRank;
  spec.accumulate = Accumulate::kWire;
  const auto reference = bits(spec, sim::DataType::kFp16, 0_us, 0);
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    for (const sim::Bytes table : {128_B, 4_KiB}) {
      spec.table_bytes = table;
      EXPECT_EQ(bits(spec, sim::DataType::kFp16, 5_us, seed), reference);
    }
  }
  spec.table_full = TableFull::kEvict;
  spec.table_bytes = 128_B;
  EXPECT_EQ(bits(spec, sim::DataType::kFp16, 5_us, 9), reference) << "the home GPU adds in rank order too";
}

TEST(Arithmetic, ArrivalOrderDoesNot) {
  IncSpec spec;
  spec.accumulate = Accumulate::kWire;
  const auto reference = bits(spec, sim::DataType::kFp16, 5_us, 1);
  int different = 0;
  for (std::uint64_t seed = 2; seed < 6; ++seed)
    different += bits(spec, sim::DataType::kFp16, 5_us, seed) != reference;
  EXPECT_GT(different, 0);
}

double mean_error(Accumulate accumulate) {
  IncSpec spec;
  spec.accumulate = accumulate;
  spec.order = SumOrder::kRank;
  const auto out = bits(spec, sim::DataType::kFp16, 0_us, 0);
  double error = 0;
  const std::size_t n = out.size() / 2;
  for (std::size_t e = 0; e < n; ++e) {
    double exact = 0;
    for (std::size_t rank = 0; rank < 8; ++rank) {
      std::byte half[2];
      store(sim::DataType::kFp16, half, 0, static_cast<double>(sim::mix(e * 8 + rank) % 100'003) / 7'919.0);
      exact += load(sim::DataType::kFp16, half, 0);
    }
    error += std::abs(load(sim::DataType::kFp16, out, e) - exact);
  }
  return error / static_cast<double>(n);
}

TEST(Arithmetic, AnAccumulatorOfFp32LosesLess) {
  EXPECT_LT(mean_error(Accumulate::kFp32), 0.7 * mean_error(Accumulate::kWire));
}

TEST(Levels, AFatTreeSumsBelowAndSendsOneContributionUp) {
  IncSpec each;
  World world(each, fat_tree(2, 1, 1), 8, false);
  world.start(all(8, 128 * 64));
  world.events.run();
  EXPECT_EQ(world.units.totals().contributions, 64u * (8 + 2))
      << "four in each of two leaves, two in the spine";
  IncSpec top;
  top.levels = Levels::kTop;
  World other(top, fat_tree(2, 1, 1), 8, false);
  other.start(all(8, 128 * 64));
  other.events.run();
  EXPECT_EQ(other.units.totals().contributions, 64u * 8);
  EXPECT_GT(other.finished(), world.finished()) << "four times as much on the links up";
}

TEST(Levels, PullSumsAtEveryLevelToo) {
  IncSpec spec;
  World world(spec, fat_tree(2, 1, 1), 8, false);
  Job job = all(8, 128 * 64);
  job.style = Style::kPull;
  world.start(job);
  world.events.run();
  // Four replies in each leaf; the spine passes one on, and the requester's leaf adds it.
  EXPECT_EQ(world.units.totals().contributions, 64u * (4 + 4 + 1 + 1));
}

TEST(Results, GoToTheHomeOnlyWhereOnlyThatWantsThem) {
  for (const TableFull full : {TableFull::kStall, TableFull::kBypass}) {
    IncSpec spec;
    spec.table_bytes = 128_B;
    spec.table_full = full;
    World world(spec, fat_tree(2, 2, 2), 6);
    Job job = all(6, 128 * 50);
    job.result_to = ResultTo::kHome;
    job.starts = {0_us, 1_us, 0_us, 3_us, 0_us, 0_us};
    const RegionId id = world.start(job);
    world.events.run();
    world.expect_done(job, id);
    world.expect_quiet();
  }
}

TEST(Sharing, AJobThatWaitsCanNotTakeTheTableOfAnother) {
  // Job 0 has a rank that is late and would fill the table; job 1 is complete at once.
  const auto job_1_done = [](Sharing sharing) {
    IncSpec spec;
    spec.table_bytes = 256_B;
    spec.sharing = sharing;
    World world(spec, one_switch(), 8, false);
    Job slow = all(4, 128 * 40);
    slow.starts = {0_us, 0_us, 0_us, 100_us};
    Job quick = slow;
    quick.members = {4, 5, 6, 7};
    quick.starts.assign(4, 5_us);
    quick.job = 1;
    const RegionId first = world.start(slow);
    const RegionId second = world.start(quick);
    world.events.run();
    world.expect_done(slow, first);
    world.expect_done(quick, second);
    world.expect_quiet();
    return world.gpu[4]->member(second).finished;
  };
  EXPECT_GT(job_1_done(Sharing::kShared), 100_us);
  EXPECT_LT(job_1_done(Sharing::kByJob), 10_us);
  EXPECT_LT(job_1_done(Sharing::kByBucket), 10_us);
}

TEST(Waves, BoundTheTableThatSkewNeeds) {
  const auto peak = [](sim::Bytes wave) {
    IncSpec spec;
    spec.table_bytes = 64_KiB;
    spec.wave = wave;
    World world(spec, one_switch(), 8, false);
    Job job = all(8, std::size_t{1} << 18);
    job.starts.assign(8, {});
    job.starts[0] = 50_us;
    const RegionId id = world.start(job);
    world.events.run();
    world.expect_done(job, id);
    world.expect_quiet();
    return world.units.totals().table_peak_entries;
  };
  EXPECT_LE(peak(2_KiB), 2u * 2 * 2048 / 128 / 8 + 1) << "two waves, spread over eight ports";
  EXPECT_GT(peak(0_B), 100u);
}

TEST(Multicast, IsAcknowledgedOnceWhateverTheNumberOfMembers) {
  IncSpec spec;
  World world(spec, fat_tree(2, 1, 1), 8, false);
  Job job = all(8, 128 * 16);
  job.style = Style::kPull;
  const RegionId id = world.start(job);
  world.events.run();
  world.expect_done(job, id);
  world.expect_quiet();
  std::uint64_t acks = 0;
  for (const auto& g : world.gpu) acks += g->acks;
  EXPECT_EQ(acks, 16u);
}

TEST(Statistics, AreCountedByPort) {
  World world(IncSpec{}, one_switch(), 2, false);
  world.start(all(2, 256));
  world.events.run();
  const ReductionUnit& unit = *world.units.units().front();
  std::uint64_t contributions = 0;
  for (std::size_t port = 0; port < unit.ports(); ++port) contributions += unit.counters(port).contributions;
  EXPECT_EQ(contributions, 4u);
  EXPECT_EQ(world.units.totals().contributions, contributions);
}

TEST(Check, RefusesWhatCanNotBeBuilt) {
  const net::FabricSpec fabric;
  IncSpec spec;
  const net::Blueprint blueprint = net::draw(fabric, 8).value();
  EXPECT_TRUE(check(spec, fabric, blueprint));
  spec.table_bytes = 64_B;
  EXPECT_EQ(check(spec, fabric, blueprint).error().parameter, "inc.table_bytes");
  spec = {};
  spec.wave = 100_B;
  EXPECT_EQ(check(spec, fabric, blueprint).error().parameter, "inc.wave");
  spec = {};
  spec.order = SumOrder::kRank;
  spec.levels = Levels::kTop;
  EXPECT_EQ(check(spec, fabric, blueprint).error().parameter, "inc.levels");
  spec = {};
  spec.payload = 96_B;
  EXPECT_EQ(check(spec, fabric, blueprint).error().parameter, "fabric.interleave_block");
}

TEST(Regions, FabricsWithoutSwitchesCanNotServeThem) {
  net::FabricSpec fabric = one_switch();
  fabric.topology = net::Topology::kFullMesh;
  IncSpec spec;
  World world(spec, fabric, 3);
  RegionPlan plan;
  plan.members = first_gpus(3);
  plan.bytes = 1_KiB;
  const auto added = world.units.regions().add(plan);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("do not meet in a switch"));
}

}  // namespace
}  // namespace infold::inc
