// Holds for any machine with units, any policies and several collectives at once: sums are exact, everything
// comes once, nothing is left over, and the same run takes the same time.
#include "support/every_value.h"
#include "support/random_fabric.h"
#include "world_help.h"

namespace infold::inc {
namespace {

using support::any_of;
using support::any_value;
using support::pick;

IncSpec random_units(sim::Random& random) {
  IncSpec s;
  s.payload = any_of(random, {32_B, 64_B, 128_B});
  s.table_bytes = s.payload * any_of(random, {1, 2, 3, 16, 1'000});
  s.table_entries = any_of(random, {0, 0, 1, 5});
  s.alu_rate = any_of(random, {1_GBps, 25_GBps, 200_GBps});
  s.switch_alu_rate = any_of(random, {sim::Bandwidth{}, sim::Bandwidth{}, 30_GBps});
  s.latency = any_of(random, {0_ns, 10_ns, 200_ns});
  s.result_buffer = any_of(random, {16_B, 128_B, 4_KiB});
  s.table_full = any_value<TableFull>(random);
  s.patience = any_of(random, {3_us, 200_us});
  s.sharing = any_value<Sharing>(random);
  s.accumulate = any_value<Accumulate>(random);
  s.order = any_value<SumOrder>(random);
  s.levels = s.order == SumOrder::kRank ? Levels::kEach : any_of(random, {Levels::kEach, Levels::kTop});
  s.wave = s.payload * any_of(random, {0, 0, 4, 100});
  s.waves = pick(random, 1, 3);
  return s;
}

sim::Time run(net::Topology topology, std::uint64_t seed) {
  sim::Random random(sim::mix(seed));
  support::Fabric fabric = support::random_fabric(topology, random);
  fabric.spec.interleave_block = any_of(random, {sim::Bytes{256}, sim::Bytes{4096}});
  fabric.spec.switch_chip.speedup = pick(random, 0, 2);
  const IncSpec spec = random_units(random);
  World world(spec, fabric.spec, fabric.gpus);
  EXPECT_TRUE(check(spec, fabric.spec, world.blueprint));
  std::vector<std::pair<Job, RegionId>> jobs;
  for (int n = pick(random, 1, 3); n > 0; --n) {
    Job job;
    job.style = any_of(random, {Style::kPush, Style::kPull});
    for (const net::NodeId gpu : first_gpus(fabric.gpus)) {
      if (random.below(4) != 0) job.members.push_back(gpu);
    }
    if (job.members.empty()) job.members = first_gpus(fabric.gpus);
    if (random.below(2) == 0) std::reverse(job.members.begin(), job.members.end());
    job.bytes = static_cast<std::size_t>(pick(random, 1, 2'000)) * 4;
    job.type = any_of(
        random, {sim::DataType::kFp32, sim::DataType::kFp16, sim::DataType::kBf16, sim::DataType::kInt32});
    job.backwards = spec.wave == 0_B && random.below(4) == 0;
    job.job = pick(random, 0, 1);
    if (job.style == Style::kPush && random.below(3) == 0) job.result_to = ResultTo::kHome;
    // Only who gets results can count waves by them.
    if (job.result_to == ResultTo::kHome && spec.wave > 0_B) job.result_to = ResultTo::kAll;
    const int skew = any_of(random, {0, 2, 50});
    for (std::size_t r = 0; r < job.members.size(); ++r)
      job.starts.push_back(sim::Time::us(pick(random, 0, skew)));
    jobs.emplace_back(job, world.start(job));
  }
  world.events.run();
  for (const auto& [job, id] : jobs) world.expect_done(job, id);
  world.expect_quiet();
  return world.events.now();
}

class AnyMachine : public testing::TestWithParam<net::Topology> {};
INSTANTIATE_TEST_SUITE_P(Topologies, AnyMachine,
                         testing::Values(net::Topology::kSwitchPlanes, net::Topology::kFatTree,
                                         net::Topology::kPcieTree),
                         [](const auto& tested) { return support::identifier(tested.param); });

TEST_P(AnyMachine, SumsEverythingOnceAndKeepsNothing) {
  for (std::uint64_t seed = 0; seed < 700 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const sim::Time took = run(GetParam(), seed);
    if (seed % 50 == 0) {
      EXPECT_EQ(run(GetParam(), seed), took) << "the same run takes the same time";
    }
  }
}

}  // namespace
}  // namespace infold::inc
