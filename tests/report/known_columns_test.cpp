// The columns that a sweep may show, known before anything runs.
#include "report/campaign/known_columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace infold::report {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

TEST(KnownColumns, OfACollectiveHoldWhatOnlySomeResultsHave) {
  const auto names = known_columns({"bench", "all_reduce"});
  for (const char* name : {"time_us", "busbw_gbps", "inc.stalls", "fault.lost_us", "fairness.jain",
                           "error.largest", "hypothetical", "host_bound", "estimate_us", "auto_loss.share"})
    EXPECT_THAT(names, Contains(name));
  EXPECT_THAT(names, Not(Contains("tflops")));
}

TEST(KnownColumns, OfAKernelAreItsOwn) {
  const auto names = known_columns({"bench", "gemm"});
  for (const char* name : {"tflops", "tile", "shape.m", "beside.kernel_slowdown"})
    EXPECT_THAT(names, Contains(name));
  EXPECT_THAT(names, Not(Contains("busbw_gbps")));
}

TEST(KnownColumns, OfStepsAreThoseOfOneAndOfSeveralGpus) {
  const auto train = known_columns({"train"});
  for (const char* name : {"phases_ms.step", "backward_slowdown", "kernel_ms.products", "comm_sms"})
    EXPECT_THAT(train, Contains(name));
  EXPECT_THAT(known_columns({"compare"}), Contains("repaired"));
  EXPECT_THAT(known_columns({"explain"}), Contains("cause"));
}

TEST(KnownColumns, OfOtherCommandsAreNotKnown) {
  EXPECT_THAT(known_columns({"list"}), IsEmpty());
  EXPECT_THAT(known_columns({}), IsEmpty());
}

}  // namespace
}  // namespace infold::report
