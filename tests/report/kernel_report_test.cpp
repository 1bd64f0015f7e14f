// What a kernel's report makes of its counters.
#include "report/kernel_report.h"

#include <nlohmann/json.hpp>

namespace infold::report {
namespace {

double l2_hit(std::uint64_t l2_read, std::uint64_t hbm_read) {
  KernelReport report;
  report.result.l2_read_bytes = l2_read;
  report.result.hbm_read_bytes = hbm_read;
  return nlohmann::json::parse(kernel_json(report))["l2_hit"].get<double>();
}

TEST(KernelReport, L2HitsAreWhatMemoryWasNotAskedFor) {
  EXPECT_DOUBLE_EQ(l2_hit(1000, 250), 0.75);
  EXPECT_DOUBLE_EQ(l2_hit(0, 0), 0) << "nothing was read";
}

TEST(KernelReport, WhereMoreIsFetchedThanReadNothingHits) {
  EXPECT_DOUBLE_EQ(l2_hit(1000, 4000), 0);
}

}  // namespace
}  // namespace infold::report
