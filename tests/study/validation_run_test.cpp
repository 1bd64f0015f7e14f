// Validation with commands that are only pretended to run: each prints its own number of words.
#include "study/validation_run.h"

#include <atomic>

#include "support/results.h"

namespace infold::study {
namespace {

ValidationRow row_of(const std::string& id, const std::string& command) {
  ValidationRow row;
  row.id = id;
  row.published = 4;
  row.accept = 0.1;
  row.figure = {.run = command, .read = "/n", .run_at = {"f", 1, 2}, .read_at = {"f", 3, 4}};
  return row;
}

/// "words" + --json --no-timing; "refused", "crash" and "none" do what they say.
CommandRun pretend(const std::vector<std::string>& words) {
  if (words.front() == "refused")
    return {.end = CommandRun::End::kRefused, .exit = 2, .out = "", .complaint = "bad"};
  if (words.front() == "crash")
    return {.end = CommandRun::End::kFailed, .exit = 1, .signal = 6, .out = "", .complaint = ""};
  return {.end = CommandRun::End::kDone,
          .out = words.front() == "none" ? "" : std::to_string(words.size()),
          .complaint = ""};
}
std::optional<double> number(std::string_view json, const std::string&) {
  return json.empty() ? std::nullopt : std::optional(std::stod(std::string(json)));
}
bool always(const std::string&, double) {
  return true;
}
sim::Result<ValidationResult> run_all_of(const Validation& v, bool sensitivity = false) {
  return run({.validation = v, .sensitivity = sensitivity, .threads = 2, .run = pretend, .read = number},
             always);
}

TEST(ValidationRun, ComparesEachRow) {
  const Validation v{{row_of("a", "x y"), row_of("b", "x y z")}, {}};
  const auto r = run_all_of(v);
  ASSERT_EQ(why(r), "");
  EXPECT_EQ(r->plain[0]->simulated, 4);
  EXPECT_TRUE(r->plain[0]->within);
  EXPECT_EQ(r->plain[1]->simulated, 5);
  EXPECT_FALSE(r->plain[1]->within);
}

TEST(ValidationRun, ACommandIsRunOnceForAllFiguresReadFromIt) {
  std::atomic<int> runs = 0;
  const Validation v{{row_of("a", "x"), row_of("b", "x")}, {}};
  const auto r = run({.validation = v,
                      .run =
                          [&](const std::vector<std::string>& words) {
                            ++runs;
                            return pretend(words);
                          },
                      .read = number},
                     always);
  ASSERT_TRUE(r);
  EXPECT_EQ(runs, 1);
}

TEST(ValidationRun, AFigureMayBeDividedByAnother) {
  Validation v{{row_of("a", "x y z u")}, {}};
  v.rows[0].over = v.rows[0].figure;
  v.rows[0].over->run = "x";
  EXPECT_EQ(run_all_of(v)->plain[0]->simulated, 2);
}

TEST(ValidationRun, TheFirstFaultOfTheFileIsToldWithItsPlace) {
  const Validation v{{row_of("a", "x"), row_of("b", "refused"), row_of("c", "none")}, {}};
  const auto r = run_all_of(v);
  ASSERT_FALSE(r);
  EXPECT_EQ(to_string(r.error()), "f:1:2: run: bad");
  const auto none = run_all_of({{row_of("c", "none")}, {}});
  EXPECT_EQ(to_string(none.error()), "f:3:4: read: what 'infold none' prints has no number at /n");
}

TEST(ValidationRun, ARowWhoseCommandFailsHasNoComparison) {
  const auto r = run_all_of({{row_of("a", "crash"), row_of("b", "x")}, {}});
  ASSERT_EQ(why(r), "");
  EXPECT_FALSE(r->plain[0]);
  EXPECT_TRUE(r->plain[1]);
  EXPECT_EQ(r->failed, std::vector<std::string>{"a: 'infold crash' was ended by signal 6"});
}

TEST(ValidationRun, EachConstantIsChangedBothWays) {
  const Validation v{{row_of("a", "x")}, {{.path = "p", .about = "", .chosen_on = {}, .instead = ""}}};
  const auto r = run_all_of(v, /*sensitivity=*/true);
  ASSERT_EQ(why(r), "");
  ASSERT_EQ(r->sensitivity.size(), 1U);
  EXPECT_EQ(r->sensitivity[0].smaller[0]->simulated, r->plain[0]->simulated + 2) << "--set p=90%";
  EXPECT_EQ(r->sensitivity[0].larger[0]->simulated, r->plain[0]->simulated + 2) << "--set p=110%";
}

TEST(ValidationRun, StopsWhenAskedTo) {
  const Validation v{{row_of("a", "x")}, {}};
  EXPECT_TRUE(is_interrupted(run({.validation = v, .run = pretend, .read = number},
                                 [](const std::string&, double) { return false; })));
}

TEST(ValidationRun, CommandsAreCheckedBeforeTheyRun) {
  const std::vector<ValidationRow> rows{row_of("a", "x"), row_of("b", "y")};
  const auto checked = check_commands(rows, [](const std::vector<std::string>& words) -> sim::Status {
    if (words.front() == "y") return sim::fail("not y");
    return {};
  });
  ASSERT_FALSE(checked);
  EXPECT_EQ(to_string(checked.error()), "f:1:2: run: not y");
}

TEST(KeepOnly, TakesIdsByTheirBeginning) {
  std::vector<ValidationRow> rows{row_of("a-1", "x"), row_of("a-2", "x"), row_of("b", "x")};
  EXPECT_TRUE(keep_only(std::vector<std::string>{"a"}, rows));
  EXPECT_EQ(rows.size(), 2U);
}

TEST(KeepOnly, AnUnknownIdIsRefusedAndNothingIsDropped) {
  std::vector<ValidationRow> rows{row_of("a", "x")};
  const auto kept = keep_only(std::vector<std::string>{"c"}, rows);
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().parameter, "c");
  EXPECT_EQ(rows.size(), 1U);
}

}  // namespace
}  // namespace infold::study
