// Sweeps: points and their commands, the store that outlives its process, and running what is missing.
#include "study/campaign/sweep.h"

#include <sqlite3.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "study/campaign/sweep_run.h"
#include "study/campaign/sweep_store.h"
#include "support/results.h"

namespace infold::study {
namespace {

using Words = std::vector<std::string>;

Sweep small_sweep() {
  Sweep s;
  s.name = "small";
  s.command = {"bench", "all_reduce"};
  s.axes = {{{{"--algo", {"ring", "tree"}}}},
            {{{"inc.table_bytes", {"1 KiB", "2 KiB", ""}}, {"--check", {"true", "false", "false"}}}}};
  return s;
}

TEST(Sweep, TheLastAxisChangesFirst) {
  const Sweep s = small_sweep();
  EXPECT_EQ(s.points(), 6U);
  EXPECT_EQ(s.columns(), (Words{"--algo", "inc.table_bytes", "--check"}));
  EXPECT_EQ(s.values(0), (Words{"ring", "1 KiB", "true"}));
  EXPECT_EQ(s.values(1), (Words{"ring", "2 KiB", "false"}));
  EXPECT_EQ(s.values(3), (Words{"tree", "1 KiB", "true"}));
}

TEST(Sweep, OptionsFlagsParametersAndWhatIsLeftOut) {
  const Sweep s = small_sweep();
  EXPECT_EQ(s.words(3),
            (Words{"bench", "all_reduce", "--algo", "tree", "--set", "inc.table_bytes=1 KiB", "--check"}));
  EXPECT_EQ(s.words(5), (Words{"bench", "all_reduce", "--algo", "tree"}));
}

TEST(Sweep, TheNumberOfPointsIsBounded) {
  Sweep s = small_sweep();
  const std::vector<std::string> many(1000, "1");
  for (int i = 0; i < 20; ++i) s.axes.push_back({{{"-g", many}}});
  EXPECT_EQ(s.points(), Sweep::kMostPoints + 1);
}

class Store : public testing::Test {
 protected:
  void SetUp() override {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / (std::string("infold_store_") + info->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    path = (folder / "x.db").string();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::string complaint(const Sweep& sweep, const std::string& made_by = "me", bool fresh = false) {
    const auto opened = SweepStore::open({path, made_by, fresh}, sweep);
    std::string text = why(opened);
    if (const auto at = text.find(path); at != std::string::npos) text.replace(at, path.size(), "x.db");
    return text;
  }
  SweepStore opened(const Sweep& sweep, bool fresh = false) {
    auto store = SweepStore::open({path, "me", fresh}, sweep);
    EXPECT_EQ(why(store), "");
    return std::move(store).value();
  }
  std::string bytes() const {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The first column of each row.
  std::vector<std::string> query(const std::string& sql) const {
    sqlite3* db = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &db), SQLITE_OK);
    std::vector<std::string> out;
    char* error = nullptr;
    sqlite3_exec(
        db, sql.c_str(),
        [](void* to, int, char** cells, char**) {
          static_cast<std::vector<std::string>*>(to)->emplace_back(cells[0] == nullptr ? "NULL" : cells[0]);
          return 0;
        },
        &out, &error);
    EXPECT_EQ(error, nullptr) << error;
    sqlite3_free(error);
    sqlite3_close(db);
    return out;
  }

  std::filesystem::path folder;
  std::string path;
};

PointResult result_of(std::size_t point) {
  if (point == 4) return {PointStatus::kRefused, "it's \"impossible\"", ""};
  return {PointStatus::kDone, "",
          R"({"results":[{"time_us":)" + std::to_string(point) + R"(.5},{"time_us":1}],"sim":{"events":7}})"};
}

void fill(SweepStore& store, const Sweep& sweep, const std::vector<std::size_t>& order) {
  for (const std::size_t point : order)
    ASSERT_EQ(why(store.put(point, sweep.values(point), result_of(point))), "");
}

TEST_F(Store, WhatWasPutIsThereForTheNext) {
  const Sweep sweep = small_sweep();
  {
    SweepStore store = opened(sweep);
    fill(store, sweep, {5, 1});
  }
  const SweepStore store = opened(sweep);
  EXPECT_EQ(store.finished(), (std::vector<bool>{false, true, false, false, false, true}));
  std::vector<std::size_t> order;
  EXPECT_TRUE(store.read([&](std::size_t point, const PointResult& r) {
    order.push_back(point);
    EXPECT_EQ(r.result, result_of(point).result);
  }));
  EXPECT_EQ(order, (std::vector<std::size_t>{1, 5}));
}

TEST_F(Store, TheFileIsTheSameWhateverTheOrder) {
  const Sweep sweep = small_sweep();
  const std::vector<ResultColumn> columns{{"time_us", "$.\"time_us\"", true},
                                          {"sim.events", "$.\"sim\".\"events\"", false}};
  std::set<std::string> files;
  for (const auto& order : {std::vector<std::size_t>{0, 1, 2, 3, 4, 5}, {5, 3, 1, 0, 2, 4}, {4, 5, 2}}) {
    {
      SweepStore store = opened(sweep, /*fresh=*/true);
      fill(store, sweep, order);
      if (order.size() == 6) {
        EXPECT_EQ(why(store.finish(columns, "results")), "");
      }
    }
    if (order.size() < 6) {  // the rest in a second run
      SweepStore store = opened(sweep);
      fill(store, sweep, {0, 3, 1});
      EXPECT_EQ(why(store.finish(columns, "results")), "");
    }
    files.insert(bytes());
    EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
    EXPECT_FALSE(std::filesystem::exists(path + ".new"));
  }
  EXPECT_EQ(files.size(), 1U);
  // And once more with nothing to do.
  EXPECT_EQ(why(opened(sweep).finish(columns, "results")), "");
  EXPECT_TRUE(files.contains(bytes()));
}

TEST_F(Store, ResultsCanBeAskedForBySql) {
  const Sweep sweep = small_sweep();
  SweepStore store = opened(sweep);
  fill(store, sweep, {0, 1, 2, 3, 4, 5});
  ASSERT_EQ(
      why(store.finish({{"time_us", "$.time_us", true}, {"sim.events", "$.sim.events", false}}, "results")),
      "");
  EXPECT_EQ(query("SELECT time_us FROM results WHERE \"--algo\" = 'tree'"),
            (std::vector<std::string>{"3.5", "1", "NULL", "5.5", "1"}));
  EXPECT_EQ(query("SELECT DISTINCT \"sim.events\" FROM results WHERE status = 'done'"),
            std::vector<std::string>{"7"});
  EXPECT_EQ(query("SELECT message FROM points WHERE status = 'refused'"),
            std::vector<std::string>{"it's \"impossible\""});
}

TEST_F(Store, AnotherSweepIsRefusedUnlessFresh) {
  Sweep sweep = small_sweep();
  {
    SweepStore store = opened(sweep);
    fill(store, sweep, {0});
  }
  sweep.axes[0].columns[0].values[1] = "direct";
  EXPECT_EQ(complaint(sweep),
            "x.db holds another sweep (- --algo: ring, direct was - --algo: ring, tree); take --fresh to "
            "throw it away, or another --out");
  EXPECT_EQ(complaint(small_sweep(), "you"),
            "x.db was made by another build of infold (me, this is you); take --fresh to throw it away, or "
            "another --out");
  EXPECT_EQ(complaint(small_sweep()), "");
  EXPECT_EQ(complaint(sweep, "me", /*fresh=*/true), "");
  EXPECT_EQ(opened(sweep).finished(), std::vector<bool>(6, false));
  // Words for people may change.
  sweep.summary = "another summary";
  sweep.show = {"time_us"};
  EXPECT_EQ(complaint(sweep), "");
}

TEST_F(Store, WhatIsNotOursIsLeftAlone) {
  std::ofstream(path)
      << "a file of somebody's, and long enough that it could be a database if it began like one";
  const std::string before = bytes();
  for (const bool fresh : {false, true})
    EXPECT_EQ(complaint(small_sweep(), "me", fresh), "x.db is there and is not a sweep's database");
  EXPECT_EQ(bytes(), before);
  std::filesystem::remove(path);
  query("CREATE TABLE points (a); INSERT INTO points VALUES (1)");
  for (const bool fresh : {false, true})
    EXPECT_EQ(complaint(small_sweep(), "me", fresh), "x.db is there and is not a sweep's database");
  EXPECT_EQ(query("SELECT a FROM points"), std::vector<std::string>{"1"});
}

TEST_F(Store, OneProcessAtATime) {
  const SweepStore store = opened(small_sweep());
  EXPECT_EQ(complaint(small_sweep()), "x.db is in use");
}

TEST_F(Store, APlaceThatCanNotBeWritten) {
  path = (folder / "no" / "x.db").string();
  EXPECT_EQ(complaint(small_sweep()), "cannot write x.db: unable to open database file");
}

TEST_F(Store, EachPointIsRunOnceOnAnyNumberOfThreads) {
  const Sweep sweep = small_sweep();
  for (const int threads : {1, 2, 7}) {
    SweepStore store = opened(sweep, true);
    fill(store, sweep, {2});
    std::atomic<int> runs = 0;
    const SweepOutcome outcome = run(
        sweep, store, threads,
        [&](const Words& words) -> std::optional<PointResult> {
          ++runs;
          EXPECT_NE(words, sweep.words(2));
          return PointResult{PointStatus::kDone, "", "{}"};
        },
        [](const SweepProgress& p) { return p.points == 6 && p.begun_with == 1; });
    EXPECT_EQ(runs, 5);
    EXPECT_TRUE(outcome.complete());
  }
}

TEST_F(Store, WhatWasStoppedIsRunAgain) {
  const Sweep sweep = small_sweep();
  {
    SweepStore store = opened(sweep);
    int runs = 0;
    const SweepOutcome outcome = run(
        sweep, store, 1,
        [&](const Words&) -> std::optional<PointResult> {
          if (++runs == 3) return std::nullopt;
          return PointResult{};
        },
        [&](const SweepProgress&) { return runs < 4; });
    EXPECT_FALSE(outcome.complete());
    EXPECT_EQ(outcome.progress.finished, 3U);
  }
  EXPECT_EQ(opened(sweep).finished(), (std::vector<bool>{true, true, false, true, false, false}));
}

}  // namespace
}  // namespace infold::study
