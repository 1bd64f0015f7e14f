// The four sentences: what each says of made-up results, and when it does not hold.
#include "report/campaign/sentences.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace infold::report {
namespace {

study::Method method(const char* algorithm) {
  return {coll::find_algorithm(algorithm), coll::Engine::kSm};
}

std::vector<sim::Time> us(std::initializer_list<int> list) {
  std::vector<sim::Time> times;
  for (const int t : list) times.push_back(sim::Time::us(t));
  return times;
}

study::StepResult step(int backward_us, int alone_us, int end_us) {
  study::StepResult r;
  r.backward = sim::Time::us(backward_us);
  r.alone.times.backward_began = {};
  r.alone.times.backward_ended = sim::Time::us(alone_us);
  r.end = sim::Time::us(end_us);
  return r;
}

/// One machine: ring costs backward 20 %, push 5 %; push wins everywhere, nvls in the middle, pull nowhere.
struct MadeUp {
  study::SystemSpec spec;
  StudyReport report;

  MadeUp() {
    spec.name = "machine";
    spec.machine.inc.unit = inc::Unit::kNvls;
    report.name = "n";
    report.sentences = true;
    StepLabel label;
    label.system = "machine";
    label.model = "m";
    label.gpus = 4;
    label.batch = 1;
    label.built = inc::Unit::kNvls;
    report.cases = {label};
    report.heavy = {true};
    study::OverlapCaseResult c;
    c.sequential = step(100, 100, 250);
    c.overlap = {{method("ring"), step(120, 100, 200), {}}, {method("inc-push"), step(105, 100, 180), {}}};
    c.causes = {{study::Cause::kSm, 0.05}, {study::Cause::kHbm, 0.12}, {study::Cause::kInteraction, 0.03}};
    report.result.cases = {c};
    study::SizeWindow w;
    w.system = study::PreparedSystem::make(spec).value();
    w.gpus = 4;
    w.sizes = {sim::Bytes::kib(1), sim::Bytes::kib(4), sim::Bytes::kib(16), sim::Bytes::kib(64)};
    report.windows = {w};
    study::SizeWindowResult r;
    r.times = {{method("ring"), us({10, 20, 30, 40}), {}},
               {method("inc-push"), us({5, 5, 20, 30}), {}},
               {method("nvls"), us({11, 19, 29, 41}), {}},
               {method("inc-pull"), us({10, 20, 30, 40}), {}},
               {method("tree"), us({1, 1, 1, 1}), {}}};
    report.result.windows = {r};
  }
  std::vector<Sentence> of(Claim claim) const {
    std::vector<Sentence> out;
    for (const Sentence& s : sentences_of(report)) {
      if (s.claim == claim) out.push_back(s);
    }
    return out;
  }
};

TEST(Sentences, HaveTheNumbersOfTheirCase) {
  const MadeUp m;
  ASSERT_EQ(m.of(Claim::kThroughput).size(), 1U);
  EXPECT_DOUBLE_EQ(m.of(Claim::kThroughput)[0].value, 0.25);
  EXPECT_TRUE(m.of(Claim::kThroughput)[0].holds);
  ASSERT_EQ(m.of(Claim::kLonger).size(), 1U);
  EXPECT_NEAR(m.of(Claim::kLonger)[0].value, 0.2, 1e-12);
  EXPECT_EQ(m.of(Claim::kLonger)[0].because, "the memory bandwidth it takes");
  ASSERT_EQ(m.of(Claim::kRepaired).size(), 1U);
  EXPECT_NEAR(m.of(Claim::kRepaired)[0].value, 0.75, 1e-12);
  EXPECT_TRUE(m.of(Claim::kRepaired)[0].hypothetical);
}

TEST(Sentences, ARangeIsLimitedWhereASizeBeyondItWasTried) {
  const MadeUp m;
  const std::vector<Sentence> windows = m.of(Claim::kWindow);
  ASSERT_EQ(windows.size(), 3U);  // tree is none of the network's
  EXPECT_EQ(windows[0].algo, "inc-push");
  EXPECT_FALSE(windows[0].holds);
  EXPECT_EQ(*windows[0].from, sim::Bytes::kib(1));
  EXPECT_EQ(*windows[0].to, sim::Bytes::kib(64));
  EXPECT_DOUBLE_EQ(windows[0].value, 4);
  EXPECT_EQ(windows[1].algo, "nvls");
  EXPECT_TRUE(windows[1].holds);
  EXPECT_TRUE(windows[1].limited_below);
  EXPECT_TRUE(windows[1].limited_above);
  EXPECT_FALSE(windows[1].hypothetical);
  EXPECT_FALSE(windows[2].from);
  EXPECT_FALSE(windows[2].holds);
}

TEST(Sentences, SayWhatDoesNotHold) {
  MadeUp m;
  std::string text = sentences_text(m.report);
  EXPECT_NE(text.find("raises throughput: holds (machine: +25.0 %)"), std::string::npos) << text;
  EXPECT_NE(text.find("repairs that: holds (machine: inc-push* 75 %)"), std::string::npos) << text;
  EXPECT_NE(
      text.find("sizes: holds in part (machine: inc-push* wins at every size from 1 KiB to 64 KiB, nvls "
                "wins from 4 KiB to 16 KiB, inc-pull* wins at no size)"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("* hypothetical"), std::string::npos);
  auto& c = m.report.result.cases[0];
  c.overlap[0].result = step(100, 100, 251);
  text = sentences_text(m.report);
  EXPECT_NE(text.find("raises throughput: does not hold as simulated (machine: -0.4 %)"), std::string::npos)
      << text;
  EXPECT_NE(text.find("longer beside it: does not hold as simulated"), std::string::npos) << text;
  EXPECT_NE(text.find("repairs that: nothing here says"), std::string::npos) << text;
}

TEST(Sentences, JsonHasTheSame) {
  const MadeUp m;
  const auto read = nlohmann::json::parse(study_json(m.report));
  ASSERT_EQ(read["sentences"].size(), 6U);
  EXPECT_EQ(read["sentences"][0]["system"], "machine");
  EXPECT_DOUBLE_EQ(read["sentences"][0]["value"], 0.25);
  EXPECT_EQ(read["sentences"][0]["unit"], "fraction");
  EXPECT_EQ(read["sentences"][3]["holds"], false);
  ASSERT_EQ(read["window"].size(), 16U);
  EXPECT_EQ(read["window"][0]["bytes"], 1024);
  EXPECT_DOUBLE_EQ(read["window"][0]["ring_us"], 10);
  EXPECT_DOUBLE_EQ(read["window"][0]["us"], 5);
  EXPECT_EQ(read["window"][0]["algo"], "inc-push");
  EXPECT_EQ(read["cases"][0]["causes"].size(), 3U);
}

}  // namespace
}  // namespace infold::report
