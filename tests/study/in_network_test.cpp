// Every design and policy of in-network reduction, end to end on GPUs, with values: right, drained, never
// stuck. All of the matrix runs by label only (ctest -C full -L full).
#include <algorithm>

#include "job_help.h"
#include "study/collective/fairness.h"
#include "support/every_value.h"
#include "support/seeds.h"

namespace infold::study {
namespace {

using inc::Accumulate;
using inc::Levels;
using inc::Sharing;
using inc::SumOrder;
using inc::TableFull;
using support::every_value;

struct Policy {
  TableFull full;
  Sharing sharing;
  Accumulate accumulate;
  SumOrder order;
  sim::Bytes wave;
};

/// The policies in turn: each choice of each with each choice of table_full.
std::vector<Policy> policies() {
  std::vector<Policy> all;
  for (TableFull full : every_value<TableFull>()) {
    for (Sharing sharing : every_value<Sharing>()) {
      for (Accumulate accumulate : every_value<Accumulate>()) {
        for (SumOrder order : every_value<SumOrder>()) {
          for (sim::Bytes wave : {0_B, 2_KiB}) all.push_back({full, sharing, accumulate, order, wave});
        }
      }
    }
  }
  return all;
}

void set(SystemSpec& system, const Policy& p, int entries) {
  inc::IncSpec& spec = system.machine.inc;
  spec.table_full = p.full;
  spec.sharing = p.sharing;
  spec.accumulate = p.accumulate;
  spec.order = p.order;
  spec.wave = p.wave;
  spec.table_entries = entries;
  spec.table_bytes = 1_MiB;
  spec.result_buffer = entries == 1 ? 128_B : 4_KiB;
}

class Matrix : public testing::TestWithParam<std::string_view> {
 protected:
  /// `elements`: of the vector, about; what a table of some entries does shows on few.
  void expect_right(const Policy& policy, int gpus, int entries, sim::Time skew, Collective c,
                    std::uint64_t seed, int elements) {
    SystemSpec system = small_system(std::max(gpus, 2), 2);
    set(system, policy, entries);
    CollectiveJob job = job_on(system, c, sim::Bytes{4 * (elements + 240 * static_cast<int>(seed % 3))});
    if (coll::has_shares(c)) job.bytes = sim::Bytes{4 * gpus * (elements / 15 + 3)};
    if (c == Collective::kBarrier) job.bytes = {};
    job.algorithm = coll::find_algorithm(GetParam());
    job.root = coll::has_root(c) ? gpus - 1 : 0;
    job.check = true;
    job.concurrent = 1 + static_cast<int>(seed % 2);
    job.type = seed % 4 == 1 ? coll::DataType::kBf16 : coll::DataType::kFp32;
    if (skew > sim::Time{}) job.delays = skewed(gpus, skew, seed);
    SCOPED_TRACE(fmt::format("{} {} on {} GPUs, full {}, sharing {}, {}, {}, wave {}, {} entries, seed {}",
                             GetParam(), sim::name_of(c), gpus, sim::name_of(policy.full),
                             sim::name_of(policy.sharing), sim::name_of(policy.accumulate),
                             sim::name_of(policy.order), policy.wave.count(), entries, seed));
    EXPECT_EQ(result_of(job).wrong, 0u);  // and the machine was quiet: tables drained, credits home
  }
};
INSTANTIATE_TEST_SUITE_P(Designs, Matrix, testing::Values("inc-push", "inc-pull", "nvls"),
                         [](const auto& tested) {
                           std::string name(tested.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

constexpr std::array kCollectives = {Collective::kAllReduce, Collective::kReduceScatter,
                                     Collective::kAllGather, Collective::kBroadcast,
                                     Collective::kReduce,    Collective::kBarrier};

TEST_P(Matrix, EveryPolicyIsRightWithEveryTableAndSkewByTurns) {
  std::uint64_t turn = 0;
  constexpr std::array kGpus = {2, 4, 5, 8, 16};
  for (const Policy& policy : policies()) {
    ++turn;
    const int entries = std::array{1, 2, 7, 8'192}[turn % 4];
    const sim::Time skew = sim::Time::us(turn % 2 == 0 ? 50 : 0);
    expect_right(policy, kGpus[turn % 5], entries, skew, kCollectives[turn / 2 % 6], turn, 15'000);
    if (HasFailure()) return;
  }
}

TEST_P(Matrix, DISABLED_EveryPolicyIsRightWithEveryTableSkewAndCollective) {
  std::uint64_t turn = 0;
  for (const Policy& policy : policies()) {
    for (int gpus : {2, 4, 5, 8, 16}) {
      for (int entries : {1, 2, 7, 64, 8'192}) {
        for (sim::Time skew : {0_ns, 50'000_ns}) {
          for (Collective c : kCollectives) {
            expect_right(policy, gpus, entries, skew, c, ++turn, 1'800);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

/// Any machine of switches, any unit, any job that they do not refuse.
void expect_any_is_right(std::uint64_t seed) {
  using support::any_of;
  using support::any_value;
  using support::pick;
  sim::Random random(sim::mix(seed + 77'000));
  const auto topology = any_of(random, {net::Topology::kSwitchPlanes, net::Topology::kFatTree});
  const support::Fabric fabric = support::random_fabric(topology, random);
  SystemSpec system = small_system(fabric.gpus, 1);
  system.machine.fabric = fabric.spec;
  system.machine.fabric.interleave_block = any_of(random, {256_B, 4_KiB});
  if (random.below(4) == 0) system.machine.fabric.link.error_distance = 20'000_B;
  inc::IncSpec& spec = system.machine.inc;
  spec.payload = any_of(random, {32_B, 64_B, 128_B});
  spec.sm_payload = any_of(random, {16_B, 32_B, 128_B});
  spec.table_bytes = spec.payload * any_of(random, {1, 2, 5, 64, 1'000});
  spec.alu_rate = any_of(random, {2_GBps, 25_GBps});
  spec.latency = sim::Time::ns(any_of(random, {0, 10, 200}));
  spec.result_buffer = any_of(random, {16_B, 4_KiB});
  spec.table_full = any_value<TableFull>(random);
  spec.sharing = any_value<Sharing>(random);
  spec.accumulate = any_value<Accumulate>(random);
  spec.order = any_value<SumOrder>(random);
  spec.levels = spec.order == SumOrder::kRank ? Levels::kEach : any_of(random, {Levels::kEach, Levels::kTop});
  spec.patience = sim::Time::us(any_of(random, {3, 200}));
  spec.wave = spec.payload * any_of(random, {0, 0, 8, 64});
  system.machine.gpu.engine.reply_jitter = sim::Time::ns(any_of(random, {0, 100}));
  system.machine.gpu.engine.in_flight = any_of(random, {4_KiB, 512_KiB});
  system.coll.nvls.zero_copy = random.below(2) == 0;
  system.coll.nvls.channels = pick(random, 1, 4);
  system.coll.nvls.slots = pick(random, 1, 3);
  system.coll.nvls.chunk = any_of(random, {1_KiB, 128_KiB});

  const Collective c =
      any_of(random, {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather,
                      Collective::kBroadcast, Collective::kReduce, Collective::kBarrier});
  CollectiveJob job = job_on(system, c, {});
  job.gpus = pick(random, 1, system.machine.gpus);
  job.algorithm = coll::find_algorithm(any_of(random, {"inc-push", "inc-pull", "nvls"}));
  job.type = any_of(random, {coll::DataType::kFp32, coll::DataType::kFp16, coll::DataType::kInt32});
  job.op = any_of(random, {coll::ReduceOp::kSum, coll::ReduceOp::kMax, coll::ReduceOp::kAvg});
  std::int64_t elements = pick(random, 0, 5'000);
  if (coll::has_shares(c)) elements = (elements + job.gpus - 1) / job.gpus * job.gpus;
  if (c != Collective::kBarrier) job.bytes = coll::size_of(job.type) * elements;
  job.root = coll::has_root(c) ? pick(random, 0, job.gpus - 1) : 0;
  job.concurrent = pick(random, 1, 2);
  job.iterations = pick(random, 1, 2);
  if (random.below(2) == 0) job.delays = skewed(job.gpus, 20'000_ns, seed);
  job.burst = any_of(random, {BurstChoice{false, 0_B}, BurstChoice{false, 4_KiB}});
  SCOPED_TRACE(fmt::format("seed {}: {} {} of {} bytes on {} GPUs of {}", seed, job.algorithm->name,
                           sim::name_of(c), job.bytes.count(), job.gpus, sim::name_of(topology)));
  job.check = true;
  const CollectiveResult checked = result_of(job);
  EXPECT_EQ(checked.wrong, 0u);
  job.check = false;
  EXPECT_EQ(result_of(job).time, checked.time) << "values change nothing";
}

TEST(AnyInNetwork, IsRightOnAnyMachine) {
  const support::Seeds seeds = support::seeds(150);
  for (std::uint64_t seed = seeds.first; seed < seeds.end && !testing::Test::HasFailure(); ++seed)
    expect_any_is_right(seed);
}
TEST(AnyInNetwork, DISABLED_IsRightOnThousandsOfMachines) {
  for (std::uint64_t seed = 150; seed < 4'000 && !testing::Test::HasFailure(); ++seed)
    expect_any_is_right(seed);
}

TEST(InNetwork, EnginesTakeNoSmAndMoveTwiceTheVector) {
  const SystemSpec system = small_system(8, 2);
  for (const char* name : {"inc-push", "inc-pull"}) {
    CollectiveJob job = job_on(system, Collective::kAllReduce, 1_MiB);
    job.algorithm = coll::find_algorithm(name);
    const CollectiveResult r = result_of(job);
    EXPECT_EQ(r.sms, 0);
    EXPECT_EQ(r.l2_bytes_per_gpu, 2u << 20);
    EXPECT_LE(r.hbm_bytes_per_gpu, (2u << 20) + 4096);
    EXPECT_TRUE(r.in_network.has_value());
  }
}

/// Two of the same size share the tables of 16 GPUs' switches.
CollectiveJob two_buckets(const SystemSpec& system, const char* algorithm) {
  CollectiveJob job = job_on(system, Collective::kAllReduce, 2_MiB);
  job.algorithm = coll::find_algorithm(algorithm);
  job.concurrent = 2;
  return job;
}

TEST(InNetwork, TwoBucketsAtOnceShareEvenlyAndLoseNothing) {
  SystemSpec system = small_system(16, 2);
  system.machine.gpu.host_enqueue = system.machine.gpu.launch = {};  // what the switches take shows
  for (const char* name : {"inc-push", "inc-pull"}) {
    for (const Sharing sharing : {Sharing::kShared, Sharing::kByBucket}) {
      SCOPED_TRACE(fmt::format("{} {}", name, sim::name_of(sharing)));
      system.machine.inc.sharing = sharing;
      CollectiveJob job = two_buckets(system, name);
      const CollectiveResult both = result_of(job);
      job.concurrent = 1;
      const CollectiveResult one = result_of(job);
      EXPECT_GE(fairness_of(both.ends).least, 0.9);
      EXPECT_LE(both.time.in_us() * 0.95, 2 * one.time.in_us());
    }
  }
}

TEST(InNetwork, JobsOnDifferentGpusDoNotSlowEachOtherDown) {
  SystemSpec system = small_system(16, 2);
  system.machine.gpu.host_enqueue = system.machine.gpu.launch = {};
  for (const Sharing sharing : {Sharing::kShared, Sharing::kByJob}) {
    system.machine.inc.sharing = sharing;
    CollectiveJob job = two_buckets(system, "inc-push");
    job.concurrent = 1;
    job.groups = 2;
    const CollectiveResult both = result_of(job);
    job.groups = 1;
    job.gpus = 8;
    EXPECT_GE(fairness_of(both.ends).least, 0.9);
    EXPECT_LE(both.time.in_us() * 0.9, result_of(job).time.in_us()) << "ports' tables are shared, links not";
  }
}

TEST(InNetwork, RankOrderGivesTheSameBitsWhateverTheTableAndTheSkew) {
  std::optional<double> first;
  for (int entries : {1, 3, 64}) {
    for (int skew : {0, 20}) {
      SystemSpec system = small_system(8, 2);
      system.machine.inc.order = SumOrder::kRank;
      system.machine.inc.table_entries = entries;
      system.machine.inc.patience = sim::Time::us(1'000'000);  // nothing goes home
      CollectiveJob job = job_on(system, Collective::kAllReduce, 16_KiB);
      job.algorithm = coll::find_algorithm("inc-push");
      job.check = job.real_inputs = true;
      job.delays = skewed(8, sim::Time::us(skew), 7);
      const CollectiveResult r = result_of(job);
      EXPECT_EQ(r.wrong, 0u);
      ASSERT_TRUE(r.error.has_value());
      if (!first) first = r.error->mean;
      EXPECT_EQ(r.error->mean, *first);
    }
  }
}

TEST(InNetwork, SumsKeptInFp32AreMoreExactThanThoseInBf16) {
  SystemSpec system = small_system(16, 2);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 16_KiB);
  job.algorithm = coll::find_algorithm("inc-push");
  job.type = coll::DataType::kBf16;
  job.check = job.real_inputs = true;
  system.machine.inc.accumulate = Accumulate::kFp32;
  job.system = prepared(system);
  const CollectiveResult wide = result_of(job);
  system.machine.inc.accumulate = Accumulate::kWire;
  job.system = prepared(system);
  const CollectiveResult narrow = result_of(job);
  EXPECT_LT(wide.error->mean, narrow.error->mean / 1.5);
  EXPECT_LE(wide.error->largest, narrow.error->largest);
}

}  // namespace
}  // namespace infold::study
