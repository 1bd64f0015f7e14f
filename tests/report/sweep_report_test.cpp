// Tables of sweeps: columns from JSON, CSV that other programs read, and what is printed.
#include "report/campaign/sweep_report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace infold::report {
namespace {

using study::PointStatus;

struct Filled {
  study::Sweep sweep;
  SweepTable table;
  SweepReport report{.sweep = sweep, .table = table, .database = "a.db", .csv = "a.csv"};

  Filled() {
    sweep.name = "n";
    sweep.command = {"bench"};
    sweep.axes = {{{{"--algo", {"ring", "a,b"}}}}, {{{"inc.stalls", {"1", "2"}}}}};
    sweep.show = {"time_us"};
    table.add(
        0,
        {PointStatus::kDone, "",
         R"({"schema":1,"command":"bench","system":"s","results":[{"system":"r","time_us":1.5,"wrong":null,"inc":{"stalls":3}},{"system":"r","time_us":2}],"list":[1]})"});
    table.add(1, {PointStatus::kDone, "", R"({"system":"s","results":[{"time_us":4,"new":true}]})"});
    table.add(2, {PointStatus::kRefused, "no, \"never\"", ""});
    table.add(3, {PointStatus::kFailed, "wrong", R"({"results":[{"time_us":5}]})"});
  }
};

TEST(SweepReport, CsvHasARowForEachOfTheResults) {
  const Filled f;
  EXPECT_EQ(sweep_csv(f.report),
            "point,--algo,inc.stalls,status,system,time_us,wrong,result.inc.stalls,new,message\n"
            "0,ring,1,done,r,1.5,,3,,\n"
            "0,ring,1,done,r,2,,,,\n"
            "1,ring,2,done,s,4,,,true,\n"
            "2,\"a,b\",1,refused,,,,,,\"no, \"\"never\"\"\"\n"
            "3,\"a,b\",2,failed,,5,,,,wrong\n");
}

TEST(SweepReport, JsonHasTheSame) {
  const Filled f;
  const auto read = nlohmann::json::parse(sweep_json(f.report));
  EXPECT_EQ(read["points"], 4);
  EXPECT_EQ(read["axes"].size(), f.report.sweep.axes.size());
  EXPECT_EQ(read["axes"][0][0], f.report.sweep.axes[0].columns[0].name);
  EXPECT_EQ(read["show"].size(), f.report.sweep.show.size());
  EXPECT_EQ(read["done"], 2);
  EXPECT_EQ(read["refused"], 1);
  EXPECT_EQ(read["failed"], 1);
  ASSERT_EQ(read["rows"].size(), 5U);
  EXPECT_EQ(read["rows"][0]["result.inc.stalls"], 3);
  EXPECT_EQ(read["rows"][0]["wrong"], nullptr);
  EXPECT_EQ(read["rows"][3]["message"], "no, \"never\"");
  EXPECT_EQ(read["rows"][4]["--algo"], "a,b");
}

TEST(SweepReport, ShowsWhatWasAskedFor) {
  Filled f;
  EXPECT_EQ(sweep_text(f.report),
            "n: 4 points, 1 refused, 1 failed\n\n"
            "  --algo  inc.stalls  time_us\n"
            "    ring           1      1.5\n"
            "    ring           1        2\n"
            "    ring           2        4\n"
            "     a,b           1  no, \"never\"\n"
            "     a,b           2        5\n\n"
            "  refused: point 2 (bench --algo a,b --set inc.stalls=1): no, \"never\"\n"
            "  failed: point 3 (bench --algo a,b --set inc.stalls=2): wrong\n"
            "  database: a.db\n  CSV: a.csv\n");
}

TEST(SweepReport, KnowsWhatCanNotBeShown) {
  Filled f;
  EXPECT_FALSE(find_missing_column(f.sweep, f.table, true));
  f.sweep.show = {"time_us", "time_s"};
  for (const bool complete : {false, true}) {
    const auto none = find_missing_column(f.sweep, f.table, complete);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->index, 1U);
    EXPECT_EQ(none->why, "show: there is no column 'time_s' in the results (did you mean 'time_us'?)");
  }
  // The next point may be one whose switches reduce.
  f.sweep.show = {"inc.evictions"};
  EXPECT_FALSE(find_missing_column(f.sweep, f.table, /*complete=*/false));
  EXPECT_TRUE(find_missing_column(f.sweep, f.table, /*complete=*/true));
}

/// The columns of a result among the outputs that tests/cli compares with; empty if it is none that a sweep
/// reads.
std::set<std::string> columns_of(const std::filesystem::path& golden, std::string& command) {
  std::stringstream all;
  all << std::ifstream(golden).rdbuf();
  std::string text = all.str();
  const std::size_t begin = text.find("\n{\n");
  const std::size_t end = text.find("\n}\n");
  if (begin == std::string::npos || end == std::string::npos) return {};
  text = text.substr(begin, end + 2 - begin);
  // Where a golden file is not about times, they are left out of it (tests/cli/run).
  for (std::size_t at = text.find('#'); at != std::string::npos; at = text.find('#', at))
    text.replace(at, 1, "0.5");
  const auto read = nlohmann::json::parse(text, nullptr, false);
  if (!read.is_object() || !read.contains("command")) return {};
  command = read["command"];
  if (read.contains("kernel")) command += " of a kernel";
  SweepTable table;
  table.add(0, {PointStatus::kDone, "", text});
  std::set<std::string> columns;
  for (const auto& c : table.columns()) columns.insert(c.name);
  return columns;
}

TEST(SweepTable, KnowsWhichColumnsAreOnlyInSomeResults) {
  std::map<std::string, std::vector<std::set<std::string>>> results;
  for (const char* group : {"bench", "bench-times", "bench-kernel", "bench-kernel-times", "train",
                            "train-times", "compare", "compare-times"}) {
    for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(INFOLD_SOURCE_DIR) /
                                                                "tests" / "cli" / "golden" / group)) {
      std::string command;
      if (auto columns = columns_of(file.path(), command); !columns.empty())
        results[command].push_back(std::move(columns));
    }
  }
  for (const char* command : {"bench", "bench of a kernel", "train", "compare", "explain"})
    EXPECT_FALSE(results[command].empty()) << command;
  for (const auto& [command, all] : results) {
    if (command == "study" || command == "learn") continue;
    for (const auto& columns : all) {
      for (const std::string& name : columns) {
        const bool always = std::ranges::all_of(all, [&](const auto& c) { return c.contains(name); });
        EXPECT_TRUE(always || only_in_some(name)) << name << " of " << command;
      }
    }
  }
  EXPECT_FALSE(only_in_some("time_us"));
  EXPECT_FALSE(only_in_some("nope"));
}

TEST(SweepTable, OneLineOfJson) {
  EXPECT_EQ(one_line_json("{\n \"b\": 1.50,\n \"a\": [1]\n}\n"), R"({"b":1.5,"a":[1]})");
  EXPECT_EQ(one_line_json("no JSON"), std::nullopt);
  EXPECT_EQ(one_line_json(""), std::nullopt);
}

}  // namespace
}  // namespace infold::report
