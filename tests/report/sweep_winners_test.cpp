// The map of who is fastest: rows that differ in their algorithm alone are one cell.
#include "report/campaign/sweep_winners.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace infold::report {
namespace {

std::string bench(std::initializer_list<std::pair<const char*, double>> times) {
  std::string rows;
  for (const auto& [algo, us] : times)
    rows +=
        fmt::format("{}{{\"algo\":\"{}\",\"bytes\":4096,\"time_us\":{}}}", rows.empty() ? "" : ",", algo, us);
  return fmt::format("{{\"results\":[{},{{\"algo\":\"ring\",\"bytes\":65536,\"time_us\":9}}]}}", rows);
}

TEST(SweepWinners, AreTheLeastTimesBySizeAndSetting) {
  study::Sweep sweep;
  sweep.winners = true;
  sweep.axes = {{{{"inc.table_bytes", {"1 KiB", "4 KiB"}}}}};
  SweepTable table;
  table.add(0, {study::PointStatus::kDone, "", bench({{"ring", 10}, {"inc-push", 4}, {"inc-pull", 5}})});
  table.add(1, {study::PointStatus::kDone, "", bench({{"inc-push", 4}, {"ring", 3}})});
  EXPECT_EQ(winners_text({.sweep = sweep, .table = table, .database = "", .csv = ""}),
            "the fastest by size, and how many times as fast as ring it is:\n"
            "  inc.table_bytes          4 KiB  64 KiB\n"
            "            1 KiB  inc-push 2.50    ring\n"
            "            4 KiB           ring    ring\n");
}

TEST(SweepWinners, AnAlgorithmThatIsVariedIsNoSetting) {
  study::Sweep sweep;
  sweep.axes = {{{{"--algo", {"ring", "nvls"}}}}, {{{"--skew", {"", "5us"}}}}};
  SweepTable table;
  const auto one = [](const char* algo, double us) {
    return study::PointResult{
        study::PointStatus::kDone, "",
        fmt::format(R"({{"results":[{{"algo":"{}","bytes":1024,"time_us":{}}}]}})", algo, us)};
  };
  table.add(0, one("ring", 6));
  table.add(1, one("ring", 6));
  table.add(2, one("nvls", 3));
  table.add(3, {study::PointStatus::kRefused, "no", ""});
  EXPECT_EQ(winners_text({.sweep = sweep, .table = table, .database = "", .csv = ""}),
            "the fastest by size, and how many times as fast as ring it is:\n"
            "  --skew      1 KiB\n"
            "       -  nvls 2.00\n"
            "     5us       ring\n");
}

TEST(SweepWinners, ResultsWithoutAlgorithmsHaveNone) {
  study::Sweep sweep;
  sweep.axes = {{{{"-m", {"1"}}}}};
  SweepTable table;
  table.add(0, {study::PointStatus::kDone, "", R"({"time_us":1})"});
  EXPECT_EQ(winners_text({.sweep = sweep, .table = table, .database = "", .csv = ""}), "");
}

}  // namespace
}  // namespace infold::report
