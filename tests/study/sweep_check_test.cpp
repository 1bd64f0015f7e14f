// What is said of a sweep's commands before, and of a point's command after it ran.
#include "study/campaign/sweep_check.h"

#include "study/campaign/point_run.h"

namespace infold::study {
namespace {

using Words = std::vector<std::string>;

Sweep two_axes() {
  return {.name = "n",
          .summary = "",
          .command = {"bench", "all_reduce", "--system", "dgx2", "--set", "gpus=4"},
          .axes = {{{{"--algo", {"ring", "tree"}}}}, {{{"-b", {"1K", "1M"}}, {"-g", {"2", "x"}}}}},
          .show = {}};
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}
CheckCommand refusing(const std::string& word) {
  return [word](const Words& words) -> sim::Status {
    if (has(words, word)) return sim::fail("no " + word);
    return {};
  };
}

TEST(SweepCheck, NothingIsWrongWhereNothingIsRefused) {
  EXPECT_FALSE(find_wrong_words(two_axes(), refusing("never")));
}

TEST(SweepCheck, TheCommandItselfComesFirst) {
  const auto wrong = find_wrong_words(two_axes(), refusing("bench"));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->column, "");
  EXPECT_EQ(wrong->why, "command: no bench");
}

TEST(SweepCheck, OfColumnsThatWalkTogetherTheGuiltyOneIsNamed) {
  const auto wrong = find_wrong_words(two_axes(), refusing("x"));
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->column, "-g");
  EXPECT_EQ(wrong->value, 1U);
  EXPECT_EQ(wrong->why, "-g: no x");
}

TEST(SweepCheck, EachValueIsTriedOnce) {
  int tries = 0;
  find_wrong_words(two_axes(), [&](const Words&) {
    ++tries;
    return sim::Status{};
  });
  EXPECT_EQ(tries, 1 + 2 + 2);
}

TEST(SweepCheck, SystemsOfAColumnReplaceThatOfTheCommand) {
  Sweep sweep = two_axes();
  EXPECT_EQ(systems_named_by(sweep).names, Words{"dgx2"});
  EXPECT_EQ(systems_named_by(sweep).sets, Words{"gpus=4"});
  sweep.axes.push_back({{{"--system", {"a", "", "b"}}}});
  EXPECT_EQ(systems_named_by(sweep).names, (Words{"a", "b"}));
}

std::optional<std::string> as_it_is(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

TEST(PointRun, WhatPrintedAResultIsDone) {
  const auto r = result_of_point({.end = CommandRun::End::kDone, .out = "{}", .complaint = ""}, as_it_is);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->status, PointStatus::kDone);
  EXPECT_EQ(r->result, "{}");
}

TEST(PointRun, WhatWasStoppedHasNoResult) {
  EXPECT_FALSE(result_of_point({.end = CommandRun::End::kStopped, .out = "{}", .complaint = ""}, as_it_is));
}

TEST(PointRun, BadInputIsRefusedWithItsComplaint) {
  const auto r =
      result_of_point({.end = CommandRun::End::kRefused, .exit = 2, .out = "", .complaint = "no"}, as_it_is);
  EXPECT_EQ(r->status, PointStatus::kRefused);
  EXPECT_EQ(r->message, "no");
}

TEST(PointRun, ACrashIsAFailureThatNamesTheSignal) {
  const auto r = result_of_point(
      {.end = CommandRun::End::kFailed, .exit = 1, .signal = 11, .out = "", .complaint = "x"}, as_it_is);
  EXPECT_EQ(r->status, PointStatus::kFailed);
  EXPECT_EQ(r->message, "ended by signal 11: x");
}

TEST(PointRun, WithoutComplaintTheExitCodeIsTold) {
  const auto r = result_of_point({.end = CommandRun::End::kDone, .out = "", .complaint = ""}, as_it_is);
  EXPECT_EQ(r->status, PointStatus::kFailed);
  EXPECT_EQ(r->message, "exit code 0");
}

TEST(PointRun, RunsOfSeveralStepsTakeOneThreadEach) {
  EXPECT_EQ(words_of_point({"compare", "-g", "4"}),
            (Words{"compare", "-g", "4", "--threads", "1", "--json", "--no-timing"}));
  EXPECT_EQ(words_of_point({"bench", "x"}), (Words{"bench", "x", "--json", "--no-timing"}));
}

}  // namespace
}  // namespace infold::study
