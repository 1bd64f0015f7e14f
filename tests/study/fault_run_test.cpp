// A plane or a link fails while a collective runs: it is finished all the same, right, and what that cost is
// said.
#include "study/collective/fault_run.h"

#include "job_help.h"

namespace infold::study {
namespace {

CollectiveJob push_on(const SystemSpec& system) {
  CollectiveJob job = job_on(system, Collective::kAllReduce, 256_KiB);
  job.algorithm = coll::find_algorithm("inc-push");
  job.check = true;
  return job;
}

TEST(FaultRun, GoesOnWithTheOtherPlanesAndIsRight) {
  SystemSpec system = small_system(8, 3);
  system.machine.gpu.host_enqueue = {};  // what the fabric takes shows
  CollectiveJob job = push_on(system);
  const sim::Time alone = result_of(job).time;
  job.fault = Fault{.what = Fault::What::kPlane, .plane = 1, .at = alone / 2};
  const CollectiveResult r = result_of(job);
  EXPECT_EQ(r.wrong, 0u);
  ASSERT_TRUE(r.fault && r.fault->hit);
  EXPECT_EQ(r.fault->undisturbed, alone);
  EXPECT_EQ(r.fault->finished_by, job.algorithm);
  EXPECT_EQ(r.time, alone + r.fault->lost);

  // What is left takes longer than the whole did.
  auto left = without(system, *job.fault);
  ASSERT_TRUE(left);
  CollectiveJob again = push_on(**left);
  const FaultSpec& spec = system.fault;
  EXPECT_EQ(r.time, alone / 2 + spec.notice + spec.reroute + result_of(again).time);
  EXPECT_GT(result_of(again).time, alone);
}

TEST(FaultRun, FallsBackToTheSoftwareThatWasNamed) {
  const SystemSpec system = small_system(4, 2);
  CollectiveJob job = push_on(system);
  job.fault = Fault{.plane = 0, .at = 1_us, .fallback = coll::find_algorithm("ring")};
  const CollectiveResult r = result_of(job);
  EXPECT_EQ(r.wrong, 0u);
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_EQ(r.fault->finished_by->name, "ring");
  EXPECT_GT(r.sms, 0) << "the ring's workgroups";
}

TEST(FaultRun, WhatFailsAfterTheEndCostsNothing) {
  const SystemSpec system = small_system(4, 2);
  CollectiveJob job = push_on(system);
  const sim::Time alone = result_of(job).time;
  job.fault = Fault{.plane = 1, .at = alone};
  const CollectiveResult r = result_of(job);
  EXPECT_EQ(r.time, alone);
  ASSERT_TRUE(r.fault.has_value());
  EXPECT_FALSE(r.fault->hit);
  EXPECT_EQ(r.fault->lost, sim::Time{});
}

TEST(FaultRun, ALinkTakesItsLaneWithItAndTheLastOneItsPlane) {
  SystemSpec system = small_system(4, 2);
  system.machine.fabric.links_per_plane = {3, 1};
  const SystemPtr lane = without(system, {.what = Fault::What::kLink, .plane = 0, .at = {}}).value();
  EXPECT_EQ(lane->machine.fabric.links_per_plane, (std::vector{2, 1}));
  const SystemPtr last = without(system, {.what = Fault::What::kLink, .plane = 1, .at = {}}).value();
  EXPECT_EQ(last->machine.fabric.failed_planes, std::vector{1});
}

TEST(FaultRun, RefusesWhatCanNotFailOrCanNotBeSpared) {
  SystemSpec system = small_system(4, 1);
  EXPECT_FALSE(without(system, {.plane = 0, .at = {}})) << "the only plane";
  EXPECT_FALSE(without(system, {.plane = 5, .at = {}})) << "no such plane";
  system.machine.fabric.topology = net::Topology::kFullMesh;
  EXPECT_FALSE(without(system, {.plane = 0, .at = {}})) << "no planes";
}

}  // namespace
}  // namespace infold::study
