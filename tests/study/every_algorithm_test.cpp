// Every algorithm with real values on machines of every kind; the bytes it moves against its formula; several
// collectives at once.
#include <algorithm>

#include "coll/program/chunking.h"
#include "job_help.h"

namespace infold::study {
namespace {

using coll::DataType;

constexpr std::array kTypes = {DataType::kFp32, DataType::kFp16, DataType::kBf16, DataType::kInt32};

SystemSpec system_of(net::Topology topology, int gpus) {
  SystemSpec s = small_system(gpus, 2);
  net::FabricSpec& f = s.machine.fabric;
  f.topology = topology;
  if (topology == net::Topology::kTorus) {
    s.machine.gpus = gpus <= 4 ? 4 : gpus <= 8 ? 8 : 16;
    f.dims = {gpus <= 8 ? 2 : 4, s.machine.gpus / (gpus <= 8 ? 2 : 4)};
  }
  if (topology == net::Topology::kPcieTree) f.groups = gpus % 2 == 0 ? 2 : 1;
  s.coll.channels = 3;
  s.coll.min_bytes_per_thread = 8_B;
  return s;
}

struct AlgorithmCase {
  const coll::Algorithm* algorithm;
  net::Topology topology;
};
void PrintTo(const AlgorithmCase& c, std::ostream* out) {
  *out << c.algorithm->name << " on " << sim::name_of(c.topology);
}
std::vector<AlgorithmCase> algorithm_cases() {
  std::vector<AlgorithmCase> all;
  for (const auto& a : coll::algorithms()) {
    for (net::Topology t : {net::Topology::kSwitchPlanes, net::Topology::kFullMesh, net::Topology::kRing,
                            net::Topology::kTorus, net::Topology::kPcieTree}) {
      const bool switches = t == net::Topology::kSwitchPlanes || t == net::Topology::kPcieTree;
      if (switches || !a.in_network) all.push_back({&a, t});
    }
  }
  return all;
}

class Values : public testing::TestWithParam<AlgorithmCase> {
 protected:
  void expect_right(Collective c, int gpus, DataType type, std::int64_t elements, coll::ReduceOp op,
                    bool real, BurstChoice burst = {}) {
    const SystemSpec system = system_of(GetParam().topology, gpus);
    if (coll::has_shares(c)) elements = (elements + gpus - 1) / gpus * gpus;
    CollectiveJob job = job_on(system, c, coll::size_of(type) * elements);
    if (c == Collective::kBarrier) job.bytes = {};
    job.algorithm = GetParam().algorithm;
    job.gpus = gpus;
    job.type = type;
    job.op = op;
    job.root = coll::has_root(c) ? gpus - 1 : 0;
    job.check = true;
    job.real_inputs = real;
    job.burst = burst;
    SCOPED_TRACE(fmt::format("{} {} on {} GPUs, {} of {}, {}", job.algorithm->name, sim::name_of(c), gpus,
                             elements, sim::name_of(type), sim::name_of(op)));
    EXPECT_EQ(result_of(job).wrong, 0u);
  }
};
INSTANTIATE_TEST_SUITE_P(Machines, Values, testing::ValuesIn(algorithm_cases()), [](const auto& tested) {
  std::string name = fmt::format("{}_{}", tested.param.algorithm->name, sim::name_of(tested.param.topology));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Values, AreRightForSmallAndOddSizes) {
  std::size_t turn = 0;
  for (int gpus : {2, 3, 4, 5, 6, 7, 8, 16}) {
    for (std::int64_t elements : {0, 1, 7, 10'007}) {
      for (Collective c : GetParam().algorithm->collectives) {
        ++turn;  // types and operators by turns, so that all meet
        const auto op = static_cast<coll::ReduceOp>(turn % 5);
        expect_right(c, gpus, kTypes[turn / 2 % 4], elements, op, turn % 3 == 0);
        if (HasFailure()) return;
      }
    }
  }
}

// Too long for every run, so it runs by label only (ctest -C full -L full). 64 MiB is for up to four GPUs,
// and in bursts, which carry the same values; the smaller sizes go packet by packet while that is cheap.
TEST_P(Values, DISABLED_AreRightForEveryCountTypeAndSize) {
  const std::int64_t large = 64 << 20;
  for (int gpus : {2, 3, 4, 5, 6, 7, 8, 16}) {
    for (DataType type : kTypes) {
      for (std::int64_t elements :
           {std::int64_t{0}, std::int64_t{1}, std::int64_t{7}, std::int64_t{1'000'003}, large}) {
        BurstChoice burst;
        if (elements == large) {
          if (gpus > 4) continue;
          elements /= coll::size_of(type).count();
          burst = {.automatic = false, .bytes = kAutoBurst};
        }
        expect_right(Collective::kAllReduce, gpus, type, elements, coll::ReduceOp::kSum, false, burst);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Flags, InsideDataBringRightValuesWhereverTheyCanBeUsed) {
  int runs = 0;
  for (const auto& a : coll::algorithms()) {
    for (Collective c : a.collectives) {
      if (a.needs_simple(c) || c == Collective::kBarrier) continue;
      for (int gpus : {2, 5, 16}) {
        const SystemSpec system = system_of(net::Topology::kSwitchPlanes, gpus);
        for (coll::Protocol p : {coll::Protocol::kLl, coll::Protocol::kLl128}) {
          CollectiveJob job = job_on(system, c, sim::Bytes{4 * gpus * 1'001});
          job.algorithm = &a;
          job.protocol = p;
          job.check = true;
          EXPECT_EQ(result_of(job).wrong, 0u) << a.name << " " << sim::name_of(c) << " " << sim::name_of(p);
          ++runs;
        }
      }
    }
  }
  EXPECT_GT(runs, 60);
}

TEST(Flags, CanNotBeUsedWhereOutputsAreStoredInto) {
  const coll::Algorithm& direct = *coll::find_algorithm("direct");
  EXPECT_TRUE(direct.needs_simple(Collective::kAllGather));
  EXPECT_TRUE(direct.needs_simple(Collective::kAllToAll));
  EXPECT_FALSE(direct.needs_simple(Collective::kAllReduce));
  EXPECT_TRUE(coll::find_algorithm("two-shot")->needs_simple(Collective::kAllReduce));
}

/// Bytes that all ranks together send, and that all memories together read and write, for each byte of the
/// vector of an all-reduce. `groups`: how many groups of seven peers there are.
struct Formula {
  std::string_view name;
  std::uint64_t (*links)(std::uint64_t n);
  std::uint64_t (*memory)(std::uint64_t n, std::uint64_t groups);
};
std::uint64_t twice(std::uint64_t n) {
  return 2 * (n - 1);
}
// A byte that is sent costs a load and, where it arrives, a write.
constexpr std::array kFormulas = {
    // n inputs, 2 loads a fold, one result; then n - 1 copies.
    Formula{"ring", twice, [](std::uint64_t n, std::uint64_t) { return 6 * n - 4; }},
    // As ring, and the root reads its result back.
    Formula{"tree", twice, [](std::uint64_t n, std::uint64_t) { return 6 * n - 3; }},
    Formula{"ccube", twice, [](std::uint64_t n, std::uint64_t) { return 6 * n - 4; }},
    // Each fold reads what came and what is held, and writes it back; each send reads it again.
    Formula{"halving-doubling", twice, [](std::uint64_t n, std::uint64_t) { return 9 * (n - 1); }},
    Formula{"direct", [](std::uint64_t n) { return n * (n - 1); },
            [](std::uint64_t n, std::uint64_t groups) { return n * (2 * (n - 1) + 3 * groups); }},
    Formula{"two-shot", twice,
            [](std::uint64_t n, std::uint64_t groups) { return 4 * (n - 1) + 3 * groups - 1; }},
    // As ring within n / d groups of d, without finishing there; then as ring between them.
    Formula{"hierarchical", twice,
            [](std::uint64_t n, std::uint64_t) {
              const std::uint64_t d = n == 16 ? 4 : n / 2;
              return n / d * (6 * d - 3) + 6 * (n / d) - 4;
            }},
    // Every input is sent once, and one result multicast: to the switches, which is where it costs a load.
    Formula{"inc-pull", [](std::uint64_t n) { return n + 1; },
            [](std::uint64_t n, std::uint64_t) { return 2 * n; }},
    // The same, and a copy into and out of the registered buffer.
    Formula{"nvls", [](std::uint64_t n) { return n + 1; },
            [](std::uint64_t n, std::uint64_t) { return 6 * n; }},
    Formula{"inc-push", [](std::uint64_t n) { return n; },
            [](std::uint64_t n, std::uint64_t) { return 2 * n; }},
};

TEST(Bytes, OfEveryAllReduceAreThoseOfItsFormula) {
  for (const auto& a : coll::algorithms()) {
    if (!a.offers(Collective::kAllReduce)) continue;
    const auto formula = std::ranges::find(kFormulas, a.name, &Formula::name);
    ASSERT_NE(formula, kFormulas.end()) << a.name;
    for (int n : {4, 6, 8, 16}) {
      const SystemSpec system = small_system(n, 2);
      CollectiveJob job = job_on(system, Collective::kAllReduce, sim::Bytes{n * 3 * 4 * 64});
      job.algorithm = &a;
      const CollectiveResult r = result_of(job);
      const auto ranks = static_cast<std::uint64_t>(n);
      const auto bytes = static_cast<std::uint64_t>(job.bytes.count());
      // What ranks that meet send; and each one's flag when all poll, which they do once here.
      const std::uint64_t meeting = a.name == "inc-pull" ? 16 : a.name == "nvls" ? 16 * ranks : 0;
      EXPECT_EQ(r.link_bytes_per_gpu, formula->links(ranks) * bytes / ranks + meeting) << a.name << " " << n;
      EXPECT_EQ(r.l2_bytes_per_gpu, formula->memory(ranks, (ranks + 5) / 7) * bytes / ranks)
          << a.name << " " << n;
    }
  }
}

TEST(Bytes, OfSendsAreReadOnceArriveOnceAndAreCopiedOnce) {
  for (int n : {2, 5, 8}) {
    for (const Collective c : {Collective::kSend, Collective::kSendRecv}) {
      const SystemSpec system = small_system(n, 2);
      CollectiveJob job = job_on(system, c, sim::Bytes{n * 10'000 * 4});
      job.algorithm = coll::find_algorithm("p2p");
      const CollectiveResult r = result_of(job);
      const auto senders = static_cast<std::uint64_t>(c == Collective::kSend ? 1 : n);
      const auto bytes =
          static_cast<std::uint64_t>(job.bytes.count()) * senders / static_cast<std::uint64_t>(n);
      EXPECT_EQ(r.link_bytes_per_gpu, bytes) << sim::name_of(c) << " " << n;
      EXPECT_EQ(r.l2_bytes_per_gpu, 4 * bytes) << "read, written into the buffer, read there, written";
    }
  }
}

TEST(Bytes, BusBandwidthStaysBelowTheBoundOnEveryMachine) {
  for (const AlgorithmCase& c : algorithm_cases()) {
    const SystemSpec system = system_of(c.topology, 8);
    for (Collective collective : c.algorithm->collectives) {
      CollectiveJob job = job_on(system, collective, 2_MiB);
      if (collective == Collective::kBarrier) continue;
      job.algorithm = c.algorithm;
      job.burst.bytes = 4_KiB;
      const CollectiveResult r = result_of(job);
      EXPECT_GT(r.busbw_gbps, 0);
      EXPECT_LE(r.busbw_gbps, r.bound_gbps) << c.algorithm->name << " " << sim::name_of(collective);
      const double links = 25.0 * (c.topology == net::Topology::kFullMesh   ? 7
                                   : c.topology == net::Topology::kTorus    ? 3
                                   : c.topology == net::Topology::kPcieTree ? 1
                                                                            : 2);
      const double sums_on_the_way =
          c.algorithm->in_network ? std::max(1.0, coll::bus_factor(collective, 8)) : 1.0;
      EXPECT_DOUBLE_EQ(r.bound_gbps, links * 128 / 144 * sums_on_the_way);
    }
  }
}

TEST(Refusals, OfWhatAnAlgorithmDoesNotOffer) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kAllToAll, 1_KiB);
  EXPECT_EQ(
      why(prepare(job)),
      "ring does not offer all_to_all: it offers all_reduce, reduce_scatter, all_gather, broadcast, reduce, "
      "barrier; all_to_all is offered by direct");
}

TEST(Refusals, OfSwitchesThatAreNotThere) {
  SystemSpec system = small_system();
  system.machine.fabric.topology = net::Topology::kFullMesh;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 1_KiB);
  job.algorithm = coll::find_algorithm("inc-push");
  EXPECT_EQ(
      why(prepare(job)),
      "inc-push: fabric.topology: full-mesh joins GPUs without a switch between them that could reduce");
}

TEST(Refusals, OfARootThatIsNotThere) {
  const SystemSpec system = small_system();
  CollectiveJob job = job_on(system, Collective::kBroadcast, 1_KiB);
  job.root = 8;
  EXPECT_EQ(why(prepare(job)), "there is no rank 8 to be the root of 8 GPUs");
}

TEST(AtOnce, GroupsOfTheirOwnDoNotDisturbEachOtherBelowANonBlockingSwitch) {
  const SystemSpec system = small_system(8, 2);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 1_MiB);
  job.gpus = 4;
  const CollectiveResult alone = result_of(job);
  job.gpus = 8;
  job.groups = 2;
  job.check = true;
  const CollectiveResult both = result_of(job);
  EXPECT_EQ(both.wrong, 0u);
  EXPECT_EQ(both.link_bytes_per_gpu, alone.link_bytes_per_gpu);
  EXPECT_NEAR(both.time.in_us() / alone.time.in_us(), 1, 0.01);
}

// Twelve GPUs below three PCIe switches, in groups of three: the second lies below the first and second
// switch, the third below the second and third. Both use the second switch's link to the root, each as fast
// as it can when it is alone there.
TEST(AtOnce, GroupsShareTheLinksBetweenThem) {
  SystemSpec system = small_system(12, 1);
  system.machine.fabric.topology = net::Topology::kPcieTree;
  system.machine.fabric.groups = 3;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 4_MiB);
  job.gpus = 6;
  job.groups = 2;
  const CollectiveResult one_there = result_of(job);
  job.gpus = 9;
  job.groups = 3;
  const CollectiveResult two_there = result_of(job);
  EXPECT_NEAR(two_there.time.in_us() / one_there.time.in_us(), 2, 0.1);
}

TEST(AtOnce, TwoOnTheSameGpusShareTheirLinks) {
  const SystemSpec system = small_system(4, 1);
  CollectiveJob job = job_on(system, Collective::kAllReduce, 2_MiB);
  const CollectiveResult alone = result_of(job);
  job.concurrent = 2;
  job.check = true;
  const CollectiveResult both = result_of(job);
  EXPECT_EQ(both.wrong, 0u);
  EXPECT_EQ(both.sms, 2 * alone.sms);
  EXPECT_EQ(both.link_bytes_per_gpu, 2 * alone.link_bytes_per_gpu);
  EXPECT_GT(both.time.in_us(), 1.5 * alone.time.in_us());
  EXPECT_LT(both.time.in_us(), 2.1 * alone.time.in_us());
}

TEST(AtOnce, MoreThanTheSmsAllowIsRefused) {
  SystemSpec system = small_system(4, 1);
  system.machine.gpu.sms = 7;
  CollectiveJob job = job_on(system, Collective::kAllReduce, 2_MiB);
  job.concurrent = 2;
  EXPECT_EQ(why(prepare(job)), "2 at once on 4 channels each need 8 SMs, and the GPU has 7");
  job.concurrent = 1;
  job.groups = 3;
  EXPECT_EQ(why(prepare(job)), "4 GPUs cannot be dealt out evenly to 3 groups");
}

}  // namespace
}  // namespace infold::study
