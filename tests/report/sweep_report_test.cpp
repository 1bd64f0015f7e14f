// Tables of sweeps: columns from JSON, CSV that other programs read, and what is printed.
#include "report/sweep_report.h"

#include <nlohmann/json.hpp>

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
  const auto json = nlohmann::json::parse(sweep_json(f.report));
  EXPECT_EQ(json["points"], 4);
  EXPECT_EQ(json["axes"].size(), f.report.sweep.axes.size());
  EXPECT_EQ(json["axes"][0][0], f.report.sweep.axes[0].columns[0].name);
  EXPECT_EQ(json["show"].size(), f.report.sweep.show.size());
  EXPECT_EQ(json["done"], 2);
  EXPECT_EQ(json["refused"], 1);
  EXPECT_EQ(json["failed"], 1);
  ASSERT_EQ(json["rows"].size(), 5U);
  EXPECT_EQ(json["rows"][0]["result.inc.stalls"], 3);
  EXPECT_EQ(json["rows"][0]["wrong"], nullptr);
  EXPECT_EQ(json["rows"][3]["message"], "no, \"never\"");
  EXPECT_EQ(json["rows"][4]["--algo"], "a,b");
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
  EXPECT_EQ(refuse_show(f.report), std::nullopt);
  f.sweep.show = {"time_s"};
  EXPECT_EQ(refuse_show(f.report),
            "show: there is no column 'time_s' in the results (did you mean 'time_us'?)");
}

TEST(SweepTable, OneLineOfJson) {
  EXPECT_EQ(one_line_json("{\n \"b\": 1.50,\n \"a\": [1]\n}\n"), R"({"b":1.5,"a":[1]})");
  EXPECT_EQ(one_line_json("no JSON"), std::nullopt);
  EXPECT_EQ(one_line_json(""), std::nullopt);
}

}  // namespace
}  // namespace infold::report
