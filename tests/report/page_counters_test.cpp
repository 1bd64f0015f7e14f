// What a page keeps of counters: those of the first GPU, all values or their means.
#include "report/output/page_counters.h"

#include <gtest/gtest.h>

namespace infold::report {
namespace {

using sim::Time;
using sim::TraceRecorder;

TraceRecorder two_gpus() {
  TraceRecorder trace({});
  for (const char* gpu : {"gpu0", "gpu1"}) {
    const auto group = trace.group(gpu);
    const auto links = trace.counter(group, "links out", "GB/s");
    trace.track(group, "compute stream");
    const double height = gpu[3] == '0' ? 10 : 99;
    // High for the first quarter of every 4 us.
    for (int i = 0; i < 100; ++i) {
      trace.sample(links, Time::us(4 * i), height);
      trace.sample(links, Time::us(4 * i + 1), 0);
    }
    trace.sample(links, Time::us(400), 0);
  }
  return trace;
}

TEST(PageCounters, AreThoseOfTheFirstGpuAsTheyAre) {
  const PageCounters c = counters_of(two_gpus(), 3);
  EXPECT_EQ(c.row, 3u);
  EXPECT_EQ(c.gpu, "gpu0");
  ASSERT_EQ(c.counters.size(), 1u);
  EXPECT_EQ(c.counters[0].name, "links out");
  EXPECT_EQ(c.counters[0].unit, "GB/s");
  ASSERT_EQ(c.counters[0].values.size(), 201u);
  EXPECT_DOUBLE_EQ(c.counters[0].at_ms[1], 0.001);
  EXPECT_DOUBLE_EQ(c.counters[0].values[2], 10);
}

TEST(PageCounters, AreMeansOverEqualTimesWhereThereAreMore) {
  const PageCounters c = counters_of(two_gpus(), 0, 11);
  ASSERT_EQ(c.counters.size(), 1u);
  const PageCounter& links = c.counters[0];
  ASSERT_EQ(links.values.size(), 11u);
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(links.at_ms[i], 0.04 * static_cast<double>(i), 1e-9);
    EXPECT_NEAR(links.values[i], 2.5, 1e-9);
  }
  EXPECT_DOUBLE_EQ(links.values.back(), 0);
}

TEST(PageCounters, OfNothingAreNone) {
  EXPECT_TRUE(counters_of(TraceRecorder({}), 0).counters.empty());
}

}  // namespace
}  // namespace infold::report
