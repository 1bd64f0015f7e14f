// Every design and policy of in-network reduction, end to end on GPUs, with values: right, drained, never
// stuck. All of the matrix runs by label only (ctest -C full -L full).
#include <algorithm>

#include "job_help.h"

namespace infold::study {
namespace {

using inc::Accumulate;
using inc::Levels;
using inc::Sharing;
using inc::SumOrder;
using inc::TableFull;

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
  for (TableFull full : {TableFull::kStall, TableFull::kBypass, TableFull::kEvict}) {
    for (Sharing sharing : {Sharing::kShared, Sharing::kByJob, Sharing::kByBucket}) {
      for (Accumulate accumulate : {Accumulate::kFp32, Accumulate::kWire}) {
        for (SumOrder order : {SumOrder::kArrival, SumOrder::kRank}) {
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
  void expect_right(const Policy& policy, int gpus, int entries, sim::Time skew, Collective c,
                    std::uint64_t seed) {
    SystemSpec system = small_system(std::max(gpus, 2), 2);
    set(system, policy, entries);
    CollectiveJob job = job_on(system, c, sim::Bytes{4 * 15 * 1'000 + 4 * 240 * static_cast<int>(seed % 3)});
    if (coll::has_shares(c)) job.bytes = sim::Bytes{4 * gpus * 1'003};
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
    expect_right(policy, kGpus[turn % 5], entries, skew, kCollectives[turn / 2 % 6], turn);
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
            expect_right(policy, gpus, entries, skew, c, ++turn);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
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
  const CollectiveResult wide = result_of(job);
  system.machine.inc.accumulate = Accumulate::kWire;
  const CollectiveResult narrow = result_of(job);
  EXPECT_LT(wide.error->mean, narrow.error->mean / 1.5);
  EXPECT_LE(wide.error->largest, narrow.error->largest);
}

}  // namespace
}  // namespace infold::study
