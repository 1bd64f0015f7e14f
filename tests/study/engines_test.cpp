// Engines other than SM workgroups: copy engines and the accelerator carry out every algorithm's programs
// with right values, and move the bytes that their mechanism needs, no more and no less.
#include <algorithm>

#include "job_help.h"

namespace infold::study {
namespace {

using coll::Engine;

constexpr std::array kEngines = {Engine::kDma, Engine::kAce};

struct EngineCase {
  const coll::Algorithm* algorithm;
  Engine engine;
};
void PrintTo(const EngineCase& c, std::ostream* out) {
  *out << c.algorithm->name << " on " << sim::name_of(c.engine);
}
std::vector<EngineCase> engine_cases() {
  std::vector<EngineCase> all;
  for (const auto& a : coll::algorithms()) {
    if (a.in_network) continue;  // they bring an engine of their own
    for (const Engine e : kEngines) all.push_back({&a, e});
  }
  return all;
}

CollectiveJob job_of(const SystemSpec& system, const EngineCase& c, Collective collective, sim::Bytes bytes) {
  CollectiveJob job = job_on(system, collective, bytes);
  job.algorithm = c.algorithm;
  job.engine = c.engine;
  return job;
}

class OnEngines : public testing::TestWithParam<EngineCase> {};
INSTANTIATE_TEST_SUITE_P(All, OnEngines, testing::ValuesIn(engine_cases()), [](const auto& tested) {
  std::string name = fmt::format("{}_{}", tested.param.algorithm->name, sim::name_of(tested.param.engine));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(OnEngines, ValuesAreRightAndCostNoTime) {
  for (const int gpus : {1, 2, 3, 8, 16}) {
    for (const Collective c : GetParam().algorithm->collectives) {
      for (const std::int64_t elements : {0, 1, 7, 10'007, 300'000}) {
        if (elements == 300'000 && gpus > 3) continue;
        const SystemSpec system = small_system(gpus, 2);
        const std::int64_t whole = coll::has_shares(c) ? (elements + gpus - 1) / gpus * gpus : elements;
        const sim::Bytes bytes = c == Collective::kBarrier ? sim::Bytes{} : sim::Bytes{4 * whole};
        CollectiveJob job = job_of(system, GetParam(), c, bytes);
        job.op = coll::ReduceOp::kAvg;
        job.root = coll::has_root(c) ? gpus - 1 : 0;
        SCOPED_TRACE(fmt::format("{} of {} bytes on {} GPUs", sim::name_of(c), bytes.count(), gpus));
        const CollectiveResult timed = result_of(job);
        job.check = true;
        const CollectiveResult checked = result_of(job);
        EXPECT_EQ(checked.wrong, 0u);
        EXPECT_EQ(checked.time, timed.time);
        EXPECT_EQ(checked.hbm_bytes_per_gpu, timed.hbm_bytes_per_gpu);
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(OnEngines, ValuesAreRightOnMachinesWithoutSwitches) {
  for (const net::Topology t : {net::Topology::kFullMesh, net::Topology::kRing, net::Topology::kPcieTree}) {
    SystemSpec system = small_system(6, 2);
    system.machine.fabric.topology = t;
    if (t == net::Topology::kPcieTree) system.machine.fabric.groups = 2;
    CollectiveJob job = job_of(system, GetParam(), GetParam().algorithm->collectives.front(), 120'004_B);
    job.check = true;
    job.burst.bytes = 4_KiB;
    EXPECT_EQ(result_of(job).wrong, 0u) << sim::name_of(t);
  }
}

/// What the memories of all ranks must carry, by the steps of the program: an engine's mechanism as
/// arithmetic.
std::uint64_t memory_bytes(const coll::Program& program) {
  std::int64_t sum = 0;
  for (const auto& list : program.lists) {
    for (const coll::Step& s : list) {
      const std::int64_t sends = s.to.size();
      std::int64_t times = 0;
      if (program.engine == Engine::kAce) {
        // Own data are read once, results written once; what passes through stays in the accelerator.
        if (!s.landed) times = int{s.uses_input} + int{s.uses_held} + int{s.writes_output};
        if (s.lands) times += sends;
      } else if (s.loads() > 1) {
        // The adding kernel reads everything and writes one sum, which every copy reads; copies arrive.
        times = s.loads() + 1 + sends + sends;
      } else if (!s.landed) {
        // Every copy reads, also the one that stays here; all are written.
        times = 2 * (sends + int{s.writes_output});
      }
      sum += times * s.bytes.count();
    }
  }
  return static_cast<std::uint64_t>(sum);
}

TEST_P(OnEngines, MemoryCarriesWhatTheStepsNeedAndNoMore) {
  for (const int gpus : {2, 5, 8}) {
    for (const Collective c : GetParam().algorithm->collectives) {
      if (c == Collective::kBarrier) continue;
      const SystemSpec system = small_system(gpus, 2);
      const CollectiveJob job = job_of(system, GetParam(), c, sim::Bytes{gpus * 4 * 5'003});
      const std::uint64_t all = memory_bytes(prepare(job).value().program());
      EXPECT_EQ(result_of(job).l2_bytes_per_gpu, all / static_cast<std::uint64_t>(gpus))
          << sim::name_of(c) << " " << gpus;
    }
  }
}

TEST(Engines, TheAcceleratorReadsARingsInputOnceAndWritesItsOutputOnce) {
  const SystemSpec system = small_system(8, 2);
  const EngineCase ring{coll::find_algorithm("ring"), Engine::kAce};
  const CollectiveResult r = result_of(job_of(system, ring, Collective::kAllReduce, 8_MiB));
  EXPECT_EQ(r.l2_bytes_per_gpu, 2u * 8 * 1024 * 1024);
}

TEST(Engines, OnlyAdditionsNeedSms) {
  const SystemSpec system = small_system(8, 2);
  const auto sm_time = [&](Engine e, Collective c) {
    return result_of(job_of(system, {coll::find_algorithm("ring"), e}, c, 8_MiB)).sm_time;
  };
  EXPECT_EQ(sm_time(Engine::kAce, Collective::kAllReduce), sim::Time{});
  EXPECT_EQ(sm_time(Engine::kDma, Collective::kAllGather), sim::Time{});
  EXPECT_GT(sm_time(Engine::kDma, Collective::kAllReduce), sim::Time{});
  EXPECT_LT(sm_time(Engine::kDma, Collective::kAllReduce) * 2, sm_time(Engine::kSm, Collective::kAllReduce));
}

TEST(Engines, LargerPacketsCarryMoreDataOfLargeMessages) {
  const SystemSpec system = small_system(8, 2);
  const auto busbw = [&](Engine e) {
    CollectiveJob job = job_of(system, {coll::find_algorithm("ring"), e}, Collective::kAllGather, 64_MiB);
    job.burst.bytes = 4_KiB;
    return result_of(job).busbw_gbps;
  };
  const double sm = busbw(Engine::kSm);
  EXPECT_GT(busbw(Engine::kDma), sm);
  EXPECT_GT(busbw(Engine::kAce), sm);
}

TEST(Engines, TimeNeverShrinksWithTheResourcesOfAnEngine) {
  const auto time = [](Engine e, auto change) {
    SystemSpec system = small_system(4, 2);
    change(system.machine.gpu);
    return result_of(job_of(system, {coll::find_algorithm("ring"), e}, Collective::kAllReduce, 4_MiB)).time;
  };
  const auto same = [](gpu::GpuSpec&) {};
  EXPECT_LT(time(Engine::kDma, same), time(Engine::kDma, [](auto& g) { g.copy.rate = 10_GBps; }));
  EXPECT_LT(time(Engine::kDma, same), time(Engine::kDma, [](auto& g) { g.copy.in_flight = 512_B; }));
  EXPECT_LT(time(Engine::kDma, same), time(Engine::kDma, [](auto& g) { g.copy.command = 20'000_ns; }));
  EXPECT_LT(time(Engine::kAce, same),
            time(Engine::kAce, [](auto& g) { g.ace.alus = 1, g.ace.alu_width = 4_B; }));
  EXPECT_LT(time(Engine::kAce, same), time(Engine::kAce, [](auto& g) { g.ace.bus = 1_GBps; }));
  EXPECT_LT(time(Engine::kAce, same), time(Engine::kAce, [](auto& g) { g.ace.sram = 320_KiB; }));
}

TEST(Engines, AnAcceleratorTooSmallForItsConnectionsIsRefused) {
  SystemSpec system = small_system(8, 2);
  system.machine.gpu.ace.sram = 64_KiB;
  system.machine.gpu.ace.message = 64_KiB;
  const CollectiveJob job =
      job_of(system, {coll::find_algorithm("direct"), Engine::kAce}, Collective::kAllReduce, 1_MiB);
  EXPECT_THAT(why(prepare(job)), testing::HasSubstr("gpu.ace.sram"));
}

TEST(Engines, FlagsInsideDataNeedThreads) {
  const SystemSpec system = small_system(8, 2);
  CollectiveJob job =
      job_of(system, {coll::find_algorithm("ring"), Engine::kDma}, Collective::kAllReduce, 1_MiB);
  job.protocol = coll::Protocol::kLl;
  EXPECT_THAT(why(prepare(job)), testing::HasSubstr("protocol simple, not ll"));
}

}  // namespace
}  // namespace infold::study
