// A system is prepared once and a job is made ready once: whatever runs on them shares what was drawn.
#include "job_help.h"
#include "study/collective/fault_run.h"

namespace infold::study {
namespace {

TEST(PreparedSystem, SaysWhichParameterToLookAt) {
  SystemSpec system = small_system();
  system.coll.slice_steps = 9;
  const auto made = PreparedSystem::make(system);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().parameter, "coll.slice_steps");
}

TEST(PreparedSystem, StopsWhenAsked) {
  const auto made = PreparedSystem::make(small_system(), [] { return false; });
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, sim::Error::Kind::kInterrupted);
}

TEST(PreparedSystem, OfACheckIsTheOneThatWasChecked) {
  PreparingCheck check;
  EXPECT_TRUE(check(small_system(4)));
  ASSERT_NE(check.prepared(), nullptr);
  EXPECT_EQ(check.prepared()->plan().blueprint().gpus, 4);
  SystemSpec wrong = small_system();
  wrong.machine.gpu.sms = 1;
  EXPECT_FALSE(check(wrong));
  EXPECT_EQ(check.prepared(), nullptr) << "nothing is left of the one before";
}

TEST(PreparedJob, SharesTheMachinesPlan) {
  const CollectiveJob job = job_on(small_system(), Collective::kAllReduce, 64_KiB);
  const PreparedJob prepared = prepare(job).value();
  EXPECT_EQ(&prepared.job().system->plan().blueprint(), &job.system->plan().blueprint());
  EXPECT_EQ(prepared.groups().size(), prepared.programs().size());
}

TEST(PreparedJob, RunsAsOftenAsOneLikes) {
  const CollectiveJob job = job_on(small_system(), Collective::kAllReduce, 64_KiB);
  const PreparedJob prepared = prepare(job).value();
  const sim::Time time = result_of(job).time;
  for (int i = 0; i < 2; ++i) EXPECT_EQ(run(prepared, {}).value().time, time);
}

TEST(PreparedJob, OfAFaultIsReadyForTheSecondTry) {
  CollectiveJob job = job_on(small_system(4, 2), Collective::kAllReduce, 64_KiB);
  job.fault = Fault{.plane = 1, .at = 1_us};
  const PreparedJob prepared = prepare(job).value();
  EXPECT_EQ(prepared.again().job().system->machine.fabric.failed_planes, std::vector{1});
  EXPECT_FALSE(prepared.again().job().fault);
}

TEST(PreparedJob, OfAFaultTakesTheSystemThatWasPlannedForIt) {
  CollectiveJob job = job_on(small_system(4, 2), Collective::kAllReduce, 64_KiB);
  job.fault = Fault{.plane = 1, .at = 1_us};
  job.fault->left = without(*job.system, *job.fault).value();
  EXPECT_EQ(prepare(job).value().again().job().system, job.fault->left) << "nothing is planned again";
}

TEST(PreparedJob, OfAFaultHearsThatItIsNotWanted) {
  CollectiveJob job = job_on(small_system(4, 2), Collective::kAllReduce, 64_KiB);
  job.fault = Fault{.plane = 1, .at = 1_us};
  const auto prepared = prepare(job, [] { return false; });
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().kind, sim::Error::Kind::kInterrupted);
}

TEST(PreparedJob, IsNotWantedAnyMoreWhileItsProgramIsWritten) {
  const CollectiveJob job = job_on(small_system(), Collective::kAllReduce, 64_KiB);
  int all = 0;
  ASSERT_TRUE(prepare(job, [&all] { return ++all > 0; }));
  EXPECT_GT(all, job.gpus) << "it asks for each rank";
  for (const int times : {0, 1, 2, all / 2, all - 1}) {
    int asked = 0;
    const auto prepared = prepare(job, [&] { return ++asked <= times; });
    ASSERT_FALSE(prepared) << times;
    EXPECT_EQ(prepared.error().kind, sim::Error::Kind::kInterrupted) << times;
  }
}

TEST(PreparedJob, IsNotHadOfAJobThatCanNotBeRun) {
  CollectiveJob job = job_on(small_system(), Collective::kAllReduce, 64_KiB);
  job.root = 8;
  const auto prepared = prepare(job);
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().message, "there is no rank 8 to be the root of 8 GPUs");
}

}  // namespace
}  // namespace infold::study
