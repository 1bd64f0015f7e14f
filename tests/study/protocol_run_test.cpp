// Collectives with each protocol: right, deterministic, with the bytes of their formula; and what auto
// chooses.
#include "job_help.h"
#include "sim/random.h"
#include "study/collective/choice.h"

namespace infold::study {
namespace {

using coll::Protocol;

class ProtocolRun : public testing::TestWithParam<Protocol> {};
INSTANTIATE_TEST_SUITE_P(Protocols, ProtocolRun,
                         testing::Values(Protocol::kSimple, Protocol::kLl, Protocol::kLl128),
                         [](const auto& tested) { return std::string(sim::name_of(tested.param)); });

TEST_P(ProtocolRun, IsRightForAnySizeRanksAndFabric) {
  for (std::uint64_t seed = 0; seed < 24 && !HasFailure(); ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    sim::Random random(sim::mix(seed + 77));
    const auto topologies = support::every_topology();
    const auto fabric = support::random_fabric(topologies[seed % topologies.size()], random);
    SystemSpec system = small_system(fabric.gpus);
    system.machine.fabric = fabric.spec;
    system.machine.fabric.switch_chip.speedup = 0;
    if (!check(system)) continue;  // a packet that fits no buffer, say
    CollectiveJob job = job_on(system, Collective::kAllReduce,
                               sim::Bytes{4 * static_cast<std::int64_t>(random.below(60'000))});
    job.gpus = support::pick(random, 1, fabric.gpus);
    job.protocol = GetParam();
    job.check = true;
    if (seed % 2 != 0) job.burst.bytes = 4_KiB;
    EXPECT_EQ(result_of(job).wrong, 0u);
  }
}

TEST_P(ProtocolRun, PutsTheBytesOfItsFormulaOnTheLinks) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 480_KiB);  // whole grains for all of them
  job.protocol = GetParam();
  const coll::Tuning t = coll::for_protocol(system.coll, job.protocol);
  const gpu::Encoding e = coll::encoding_of(job.protocol);
  const std::vector<int> gpus = {0, 1, 2, 3, 4, 5, 6, 7};
  const auto blueprint = net::draw(system.machine.fabric, 8).value();
  const coll::Program program = coll::compile(
      *job.algorithm,
      {.collective = job.collective, .bytes = job.bytes, .gpus = gpus, .fabric = &blueprint, .tuning = t});
  std::int64_t wire = 0;
  std::int64_t data = 0;
  for (const auto& list : program.lists) {
    for (const coll::Step& s : list) {
      if (!s.sends()) continue;
      data += s.bytes.count();
      wire += e.wire(s.bytes).count();
    }
  }
  EXPECT_EQ(data, static_cast<std::int64_t>(bytes_to_send(job.collective, job.bytes, 8)));
  EXPECT_EQ(result_of(job).link_bytes_per_gpu, static_cast<std::uint64_t>(wire) / 8);
  if (job.protocol == Protocol::kLl) {
    EXPECT_EQ(wire, 2 * data);
  }
  if (job.protocol == Protocol::kLl128) {
    EXPECT_GE(wire * 15, data * 16);
  }
}

TEST_P(ProtocolRun, IsTheSameOnEveryRun) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 300'000_B);
  job.protocol = GetParam();
  job.delays = skewed(8, 20_us, 3);
  const CollectiveResult a = result_of(job);
  const CollectiveResult b = result_of(job);
  EXPECT_EQ(a.time, b.time);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.moving, b.moving);
}

// What is polled for was written to L2 when it landed, also if it is one packet.
TEST(Protocols, LessDataTakesNoLongerWithLl) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 4_B);
  job.protocol = Protocol::kLl;
  sim::Time before = result_of(job).time;
  for (const sim::Bytes bytes : {16_B, 64_B, 128_B, 256_B, 1024_B, 4096_B}) {
    job.bytes = bytes;
    const CollectiveResult r = result_of(job);
    EXPECT_GE(r.time, before) << bytes.count();
    // Every rank reads its input from memory and nothing else; all that is written is counted too.
    EXPECT_LT(r.hbm_bytes_per_gpu, r.l2_bytes_per_gpu) << bytes.count();
    before = r.time;
  }
}

/// A ring as a user would write it down, for 960 bytes.
coll::OwnProgram written_ring(const SystemSpec& system) {
  const CollectiveJob job = job_on(system, Collective::kAllReduce, 960_B);
  return {.name = "own.json", .program = prepare(job).value().program(), .settings = system.coll};
}

TEST_P(ProtocolRun, RunsAUsersProgramAtAnySize) {
  const SystemSpec system = small_system(4);
  const coll::OwnProgram own = written_ring(system);
  for (const sim::Bytes bytes : {4_B, 964_B, 40'000_B, 3'000'004_B}) {
    CollectiveJob job = job_on(system, Collective::kAllReduce, bytes);
    job.algorithm = nullptr;
    job.program = &own;
    job.protocol = GetParam();
    job.check = true;
    EXPECT_EQ(result_of(job).wrong, 0u) << bytes.count();
  }
}

TEST(Protocols, AProgramHasItsOwnUnlessOneIsNamed) {
  const SystemSpec system = small_system(4);
  const coll::OwnProgram own = written_ring(system);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 960_B);
  job.program = &own;
  EXPECT_EQ(offers_of(job, nullptr, std::nullopt).front().protocol, Protocol::kSimple);
  const Choice with_ll = offers_of(job, nullptr, Protocol::kLl).front();
  EXPECT_EQ(with_ll.protocol, Protocol::kLl);
  EXPECT_EQ(name_of(with_ll), "own.json");
}

TEST(Protocols, LlIsFastForLittleAndSimpleForMuch) {
  const SystemSpec system = small_system();
  const auto time = [&](sim::Bytes bytes, Protocol p) {
    CollectiveJob job = job_on(system, Collective::kAllReduce, bytes);
    job.protocol = p;
    job.burst = {};
    return result_of(job).time;
  };
  EXPECT_LT(time(1_KiB, Protocol::kLl), time(1_KiB, Protocol::kSimple));
  EXPECT_LT(time(16_MiB, Protocol::kSimple), time(16_MiB, Protocol::kLl));
  EXPECT_LT(time(16_MiB, Protocol::kSimple), time(16_MiB, Protocol::kLl128));
}

TEST(Skew, ResidentWorkgroupsWaitForTheLastRank) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllReduce, 64_KiB);
  const CollectiveResult together = result_of(job);
  job.delays.assign(8, {});
  job.delays[5] = 50_us;
  const CollectiveResult late = result_of(job);
  EXPECT_GE(late.time, together.time + 40_us);
  EXPECT_GE(late.resident, together.resident + 30_us) << "seven of eight ranks wait about 50 us";
  EXPECT_LT(late.moving, together.moving + 10_us);
  EXPECT_LE(together.moving, together.resident);
}

TEST(Skew, IsUniformAndSeeded) {
  const auto a = skewed(8, 20_us, 1);
  EXPECT_EQ(a, skewed(8, 20_us, 1));
  EXPECT_NE(a, skewed(8, 20_us, 2));
  for (const sim::Time t : a) EXPECT_LE(t, 20_us);
}

TEST(Choose, IsNeverMuchSlowerThanTheBest) {
  for (const int planes : {1, 3}) {
    const SystemSpec system = small_system(8, planes);
    for (const sim::Bytes bytes : {sim::Bytes{1024}, 64_KiB, 1_MiB, 4_MiB}) {
      CollectiveJob job = job_on(system, Collective::kAllReduce, bytes);
      job.burst = {};
      const std::vector<const coll::Algorithm*> ring = {job.algorithm};
      const std::vector<Protocol> all = {Protocol::kSimple, Protocol::kLl, Protocol::kLl128};
      const auto offered = offers(job, ring, all);
      ASSERT_EQ(offered.size(), 3u);
      sim::Time best = sim::Time::never();
      for (const Choice& c : offered) {
        job.protocol = c.protocol;
        best = sim::min(best, result_of(job).time);
      }
      job.protocol = choose(job, offered).protocol;
      EXPECT_LE(result_of(job).time.in_us(), best.in_us() * 1.1)
          << planes << " planes, " << bytes.count() << " bytes: " << sim::name_of(job.protocol);
    }
  }
}

TEST(Choose, TriesWhatEstimatesCanNotTellApartAndNothingElse) {
  const SystemSpec system = small_system();
  const CollectiveJob job = job_on(system, Collective::kAllReduce, 1_MiB);
  const std::vector<Choice> all = offers_of(job, nullptr, std::nullopt);
  double least = estimate_us(job, all.front());
  for (const Choice& c : all) least = std::min(least, estimate_us(job, c));
  // The slowest of the near ones is the fastest, as it were.
  std::vector<Choice> tried;
  const Trial backwards = [&](const Choice& c) {
    tried.push_back(c);
    return sim::Time::ps(static_cast<std::int64_t>(1e9 / estimate_us(job, c)));
  };
  const Choice chosen = choose(job, all, {}, backwards);
  ASSERT_GE(tried.size(), 2u);
  EXPECT_LT(tried.size(), all.size());
  for (const Choice& c : all) {
    if (std::ranges::find(tried, c) == tried.end()) {
      EXPECT_GT(estimate_us(job, c), 1.25 * least);
    } else {
      EXPECT_LE(estimate_us(job, c), estimate_us(job, chosen));
    }
  }
}

TEST(Choose, SimulatesOnlyWhatTakesLittleTime) {
  const SystemSpec system = small_system();
  const CollectiveJob job = job_on(system, Collective::kAllReduce, 64_KiB);
  const Choice ring{coll::find_algorithm("ring"), Protocol::kLl};
  const Trial trial = simulated(job);
  ASSERT_TRUE(trial);
  CollectiveJob same = job;
  same.protocol = Protocol::kLl;
  EXPECT_EQ(trial(ring), result_of(same).time);
  EXPECT_FALSE(simulated(job_on(system, Collective::kAllReduce, 1_GiB)));
}

TEST(TuningTable, ARowHoldsUpToItsSizeAndTheLastBeyond) {
  const Choice ll{coll::find_algorithm("ring"), Protocol::kLl};
  const Choice simple{coll::find_algorithm("ring"), Protocol::kSimple};
  TuningTable table;
  table.add(1_KiB, ll);
  table.add(2_KiB, ll);
  table.add(4_KiB, simple);
  ASSERT_EQ(table.rows.size(), 2u) << "equal neighbours are one row";
  EXPECT_EQ(table.at(2_KiB), ll);
  EXPECT_EQ(table.at(2049_B), simple);
  EXPECT_EQ(table.at(1_GiB), simple);
}

}  // namespace
}  // namespace infold::study
