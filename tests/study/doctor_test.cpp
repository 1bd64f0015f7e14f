// What the doctor says of logs with known causes, on a small machine: the cause, nothing, or that it is not
// clear.
#include "study/doctor/diagnosis.h"

#include "job_help.h"
#include "support/planted.h"

namespace infold::study {
namespace {

/// Four GPUs under switches that reduce, as fast as those that are sold, but with fewer links.
SystemSpec reducing_machine() {
  SystemSpec s = small_system(4, 3);
  s.machine.fabric.links_per_plane = {2};
  s.machine.inc.unit = inc::Unit::kNvls;
  s.coll.channels = 12;
  s.coll.nvls.channels = 8;
  return s;
}

// One test, because all of it judges by the same simulations, which take seconds.
TEST(Doctor, NamesPlantedCausesAndNothingElse) {
  const PlantedSystem planted =
      planted_system(prepared(reducing_machine()), {all_reduce_sizes(4, 64_KiB, 64_MiB, 4)});
  const Planted count = planted.plant(10);
  EXPECT_GT(count.seen, 60);
  EXPECT_GE(count.named * 100, count.seen * 90) << testing::PrintToString(count.by_cause);
  EXPECT_LE(count.wrong * 100, count.seen * 2);
  EXPECT_GE(planted.healthy_ones(100), 95);

  // Slower by as much at every size: no machine does that.
  std::vector<Times> times = planted.expected();
  for (double& us : times.front()) us *= 7;
  const Diagnosis d = planted.diagnosis(times, 0.03, 1);
  EXPECT_EQ(d.verdict, Verdict::kUnclear);
  EXPECT_FALSE(d.fits.empty());

  // One size that is slow is no loss.
  times = planted.expected();
  times.front()[3] *= 3;
  EXPECT_EQ(planted.diagnosis(times, 0, 1).verdict, Verdict::kAsExpected);
}

TEST(Doctor, ContinuesALineWhereSizesAreLarge) {
  // What is continued from 32 MiB is what a simulation of the whole size gives.
  const SystemPtr system = prepared(reducing_machine());
  const auto healthy = simulate_healthy(system, std::vector{all_reduce_sizes(4, 64_MiB, 64_MiB, 2)});
  ASSERT_TRUE(healthy);
  CollectiveJob job = job_on(reducing_machine(), Collective::kAllReduce, 64_MiB);
  const Choice& choice = healthy->front().offers[healthy->front().choices.front()];
  job.algorithm = choice.algorithm;
  job.protocol = choice.protocol;
  job.burst.automatic = true;
  EXPECT_NEAR(result_of(job).time.in_us() / healthy->front().expected.front(), 1, 0.03);
}

TEST(Doctor, OffersTheCausesThatTheMachineCanHave) {
  const auto has = [](const SystemSpec& system, std::string_view id) {
    return std::ranges::any_of(causes_of(system), [&](const LossCause& c) { return c.id == id; });
  };
  SystemSpec system = reducing_machine();
  EXPECT_TRUE(has(system, "nvls-off") && has(system, "plane-missing") && has(system, "link-missing"));
  EXPECT_FALSE(has(system, "pcie-rate"));
  system.machine.inc.unit = inc::Unit::kNone;
  EXPECT_FALSE(has(system, "nvls-off"));
  system.machine.fabric = {};
  system.machine.fabric.topology = net::Topology::kPcieTree;
  system.machine.fabric.groups = 2;
  EXPECT_TRUE(has(system, "pcie-rate") && has(system, "p2p-off"));
  EXPECT_FALSE(has(system, "plane-missing"));
}

TEST(Doctor, StopsWhenAsked) {
  const auto stopped =
      diagnose(prepared(reducing_machine()), std::vector{all_reduce_sizes(4, 64_KiB, 1_MiB, 4)},
               [](const std::string&, double) { return false; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, sim::Error::Kind::kInterrupted);
}

}  // namespace
}  // namespace infold::study
