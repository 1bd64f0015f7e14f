// The promise of the whole: any collective of any size and type, on any machine and with any settings that
// pass check(), gives the right values on every rank, moves the bytes it must and no more, takes the same
// time whether or not values are carried, and takes it again the next time.
#include <gmock/gmock.h>
#include <algorithm>

#include "coll/dtype.h"
#include "job_help.h"
#include "support/seeds.h"

namespace infold::study {
namespace {

using support::any_of;
using support::pick;

struct Case {
  SystemSpec system;
  CollectiveJob job;
};

void any_system(SystemSpec& system, net::Topology topology, sim::Random& random) {
  const support::Fabric fabric = support::random_fabric(topology, random);
  system.machine.gpus = fabric.gpus;
  system.machine.fabric = fabric.spec;
  auto& gpu = system.machine.gpu;
  gpu.hbm.bandwidth = any_of(random, {20_GBps, 900_GBps, 2039_GBps});
  gpu.hbm.access = sim::Time::ns(any_of(random, {0, 400, 3'000}));
  gpu.sm_port = any_of(random, {1_B, 64_B});
  gpu.poll = sim::Time::ns(any_of(random, {0, 300}));
  coll::Tuning& t = system.coll;
  t.channels = pick(random, 1, 8);
  t.threads = any_of(random, {32, 97, 512});
  t.in_flight_per_thread = any_of(random, {4_B, 5_B, 64_B});
  t.buffer = any_of(random, {4_KiB, 5'001_B, 16_KiB, 4_MiB});
  t.buffer_steps = any_of(random, {4, 6, 8, 16});
  t.slice_steps = pick(random, 1, 2);
  t.slices_per_chunk = pick(random, 1, t.buffer_steps / t.slice_steps - 1);
  t.min_bytes_per_thread = any_of(random, {1_B, 8_B, 64_B});
}

sim::Bytes any_size(Collective collective, sim::Bytes element, int ranks, sim::Random& random) {
  std::int64_t elements = 0;
  switch (random.below(5)) {
    case 0:
      elements = any_of(random, {0, 1, 2, 3});
      break;
    case 1:
      elements = pick(random, 1, ranks);
      break;
    case 2:
      elements = pick(random, 1, 300);
      break;
    default:
      elements = pick(random, 1, 6'000);
      break;
  }
  if (collective != Collective::kAllReduce) elements = (elements + ranks - 1) / ranks * ranks;
  return element * elements;
}

void any_job(CollectiveJob& job, const SystemSpec& system, sim::Random& random) {
  job = job_on(system,
               any_of(random, {Collective::kAllReduce, Collective::kReduceScatter, Collective::kAllGather}),
               {});
  job.gpus = random.below(2) == 0 ? system.machine.gpus : pick(random, 1, system.machine.gpus);
  job.type = any_of(
      random, {coll::DataType::kFp32, coll::DataType::kFp16, coll::DataType::kBf16, coll::DataType::kInt32});
  job.op = any_of(random, {coll::ReduceOp::kSum, coll::ReduceOp::kProd, coll::ReduceOp::kMin,
                           coll::ReduceOp::kMax, coll::ReduceOp::kAvg});
  job.bytes = any_size(job.collective, coll::size_of(job.type), job.gpus, random);
  job.iterations = any_of(random, {1, 1, 1, 3});
  job.burst.bytes = any_of(random, {0_B, 1'023_B, 4_KiB});
  job.burst.automatic = random.below(4) == 0;
}

/// An engine of any kind, with sizes that are odd and mean.
void any_engine(CollectiveJob& job, SystemSpec& system, sim::Random& random) {
  job.engine = any_of(random, {coll::Engine::kDma, coll::Engine::kAce});
  gpu::GpuSpec& gpu = system.machine.gpu;
  gpu.copy.engines = pick(random, 1, 9);
  gpu.copy.payload = any_of(random, {16_B, 128_B, 256_B});
  gpu.copy.in_flight = any_of(random, {256_B, 5'000_B, 128_KiB});
  gpu.copy.command = sim::Time::ns(any_of(random, {0, 1'500}));
  gpu.copy.signal = sim::Time::ns(any_of(random, {0, 500}));
  gpu.ace.sram = any_of(random, {512_KiB, 4_MiB});
  gpu.ace.machines = pick(random, 1, 9);
  gpu.ace.message = any_of(random, {512_B, 1'000_B, 8_KiB});
  gpu.ace.chunk = any_of(random, {512_B, 64_KiB});
  gpu.ace.read_ahead = any_of(random, {512_B, 16_KiB});
  gpu.ace.alus = pick(random, 1, 4);
  system.coll.add_workgroups = pick(random, 1, 9);
  job.system = prepared(system);
}

void any_job_on_any_system(CollectiveJob& job, SystemSpec& system, net::Topology topology,
                           sim::Random& random) {
  any_system(system, topology, random);
  ASSERT_EQ(why(check(system)), "");
  any_job(job, system, random);
}

std::string described(const CollectiveJob& job) {
  return fmt::format("{} by {} of {} bytes of {}, {}, on {} of {} GPUs, {} iterations, burst {}{}",
                     sim::name_of(job.collective), sim::name_of(job.engine), job.bytes.count(),
                     sim::name_of(job.type), sim::name_of(job.op), job.gpus, job.system->machine.gpus,
                     job.iterations, job.burst.automatic ? "auto " : "", job.burst.bytes.count());
}

void expect_same_timing(const CollectiveResult& a, const CollectiveResult& b) {
  EXPECT_EQ(a.time, b.time) << a.time.count_ps() << " and " << b.time.count_ps() << " ps";
  EXPECT_EQ(a.link_bytes_per_gpu, b.link_bytes_per_gpu);
  EXPECT_EQ(a.wire_bytes_per_gpu, b.wire_bytes_per_gpu);
  EXPECT_EQ(a.hbm_bytes_per_gpu, b.hbm_bytes_per_gpu);
  EXPECT_EQ(a.packet_hops, b.packet_hops);
  EXPECT_EQ(a.sms, b.sms);
}

class AnyCollective : public testing::TestWithParam<net::Topology> {};
INSTANTIATE_TEST_SUITE_P(Topologies, AnyCollective, testing::ValuesIn(support::every_topology()),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(AnyCollective, IsRightMovesWhatItMustAndTakesTheSameTimeAgain) {
  const support::Seeds seeds = support::seeds(60);
  for (std::uint64_t seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    sim::Random random(sim::mix(seed + 1'000));
    SystemSpec system;
    CollectiveJob job;
    ASSERT_NO_FATAL_FAILURE(any_job_on_any_system(job, system, GetParam(), random));
    if (seed % 3 == 2) any_engine(job, system, random);
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, described(job)));

    job.check = true;
    const CollectiveResult checked = result_of(job);
    EXPECT_EQ(checked.wrong, 0u);
    EXPECT_EQ(checked.link_bytes_per_gpu,
              bytes_to_send(job.collective, job.bytes, job.gpus) / static_cast<std::uint64_t>(job.gpus));
    EXPECT_GE(checked.wire_bytes_per_gpu, checked.link_bytes_per_gpu);

    job.check = false;
    const CollectiveResult timed = result_of(job);
    EXPECT_FALSE(timed.wrong.has_value());
    expect_same_timing(checked, timed);

    const CollectiveResult again = result_of(job);
    expect_same_timing(timed, again);
    EXPECT_EQ(timed.events, again.events);
  }
}

/// Bursts of packets smaller than the network's own have more headers, and must fit its buffers all the same.
TEST(SmallPackets, InBurstsFitSmallBuffers) {
  SystemSpec system = small_system(4, 1);
  system.machine.fabric.packet.payload = 256_B;
  system.machine.fabric.packet.header = 24_B;
  system.machine.fabric.switch_chip.buffer = 512_B;
  system.machine.gpu.copy.payload = 16_B;
  for (const coll::Engine engine : {coll::Engine::kDma, coll::Engine::kAce}) {
    CollectiveJob job = job_on(system, Collective::kAllGather, 10'864_B);
    job.engine = engine;
    job.burst.bytes = 4_KiB;
    job.check = true;
    EXPECT_EQ(result_of(job).wrong, 0u) << sim::name_of(engine);
  }
}

/// An algorithm, one of its collectives, a protocol and an engine that go together on this machine.
void any_program(CollectiveJob& job, SystemSpec& system, sim::Random& random) {
  const bool switches_reduce = gpu::MachinePlan::make(system.machine).value().in_network().has_value();
  std::vector<const coll::Algorithm*> able;
  for (const coll::Algorithm& a : coll::algorithms()) {
    if (switches_reduce || !a.in_network) able.push_back(&a);
  }
  job.algorithm = able[random.below(able.size())];
  job.collective = job.algorithm->collectives[random.below(job.algorithm->collectives.size())];
  if (coll::has_shares(job.collective)) job.bytes = job.bytes * job.gpus;
  if (job.collective == Collective::kBarrier) job.bytes = {};
  job.root = coll::has_root(job.collective) ? pick(random, 0, job.gpus - 1) : 0;
  if (!job.algorithm->in_network && random.below(3) == 0) any_engine(job, system, random);
  if (job.engine == coll::Engine::kSm && !job.algorithm->needs_simple(job.collective))
    job.protocol = any_of(random, {coll::Protocol::kSimple, coll::Protocol::kLl, coll::Protocol::kLl128});
}

/// Any algorithm with any protocol on any engine that it can be used with is right, and again. Only what an
/// accelerator's memory holds is not known before the program is there, and it is seldom too small.
TEST_P(AnyCollective, ByAnyProgramIsRight) {
  const support::Seeds seeds = support::seeds(30);
  std::uint64_t refusals = 0;
  for (std::uint64_t seed = seeds.first; seed < seeds.end && !HasFailure(); ++seed) {
    sim::Random random(sim::mix(seed + 31'000));
    SystemSpec system;
    CollectiveJob job;
    ASSERT_NO_FATAL_FAILURE(any_job_on_any_system(job, system, GetParam(), random));
    any_program(job, system, random);
    SCOPED_TRACE(fmt::format("seed {}: {} {}, {}", seed, job.algorithm->name, sim::name_of(job.protocol),
                             described(job)));
    job.check = true;
    const CollectiveOutcome outcome = run(job, {});
    if (is_refused(outcome)) {
      EXPECT_EQ(job.engine, coll::Engine::kAce);
      EXPECT_THAT(outcome.error().message, testing::StartsWith("the accelerator's memory of "));
      ++refusals;
      continue;
    }
    const auto* checked = outcome ? &*outcome : nullptr;
    ASSERT_NE(checked, nullptr) << "a deadlock";
    EXPECT_EQ(checked->wrong, 0u);
    expect_same_timing(*checked, result_of(job));
  }
  EXPECT_LE(refusals, std::max<std::uint64_t>(1, (seeds.end - seeds.first) / 20));
}

}  // namespace
}  // namespace infold::study
