// Files of published figures: the ones in the binary are complete, others are refused with the place.
#include "config/validation_file.h"

#include <fmt/format.h>

#include <set>

#include "config/yaml/overrides.h"
#include "helpers.h"
#include "support/results.h"

namespace infold::config {
namespace {

class ValidationFile : public ScratchTest {
 protected:
  std::string complaint(const std::string& rows) {
    const auto loaded = load_validation(write("rows.yaml", "kind: validation\nrows:\n" + rows));
    if (loaded) return "taken";
    const sim::Error& e = loaded.error();
    return std::to_string(e.place.line) + ":" + std::to_string(e.place.column) + ": " + e.message;
  }
  static std::string row(const std::string& published = "10", const std::string& read = "/results/0/time_us",
                         const std::string& more = "") {
    return "  - {id: a, quantity: q, unit: us, published: " + published +
           ", source: s, run: list systems, read: " + read + ", accept: 0.1, because: b" + more + "}\n";
  }
};

TEST_F(ValidationFile, TheOnesInTheBinaryAgreeWithThemselvesAndWithTheParameters) {
  const auto loaded = built_in_validation();
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  const auto& all = loaded.value();
  std::set<std::string> ids;
  for (const auto& r : all.rows) EXPECT_TRUE(ids.insert(r.id).second) << r.id;
  std::set<std::string> chosen;
  for (const auto& c : all.constants) {
    study::SystemSpec spec;
    const std::string value = c.instead.empty() ? "110%" : c.instead;
    EXPECT_EQ(why(apply_override(spec, fmt::format("{}={}", c.path, value))), "");
    for (const auto& id : c.chosen_on) {
      EXPECT_TRUE(ids.contains(id)) << c.path << " was chosen on " << id;
      chosen.insert(id);
    }
  }
  // What judges was not looked at, and of what was looked at it is known for what.
  for (const auto& r : all.rows) EXPECT_EQ(r.calibrated, chosen.contains(r.id)) << r.id;
  EXPECT_GT(ids.size(), 30u);
}

TEST_F(ValidationFile, TakesAWholeRow) {
  EXPECT_EQ(complaint(row()), "taken");
  EXPECT_EQ(complaint(row("10", "/a", ", over: {run: list gpus, read: /b}, calibrated: true, missing: m")),
            "taken");
}

TEST_F(ValidationFile, RefusesWhatIsNoPositiveNumber) {
  for (const char* bad : {"0", "-1", "nan", "inf", "1e99", "10us", "ten", "[1]"})
    EXPECT_THAT(complaint(row(bad)), testing::StartsWith("3:")) << bad;
}

TEST_F(ValidationFile, RefusesAPathThatIsNone) {
  EXPECT_THAT(complaint(row("10", "time_us")), testing::HasSubstr("read: expected a path such as"));
}

std::string shown(const sim::Place& p) {
  return fmt::format("{}:{}:{}", p.file, p.line, p.column);
}

TEST_F(ValidationFile, KnowsWhereCommandsAndPathsStand) {
  const std::string path = write(
      "rows.yaml", "kind: validation\nrows:\n" + row("10", "/a", ",\n over: {run: list gpus, read: /b}"));
  const auto loaded = load_validation(path);
  ASSERT_TRUE(loaded);
  const auto& r = loaded.value().rows.front();
  EXPECT_EQ(shown(r.figure.run_at), path + ":3:67");
  EXPECT_EQ(shown(r.figure.read_at), path + ":3:87");
  EXPECT_EQ(shown(r.over->run_at), path + ":4:14");
  EXPECT_EQ(shown(r.over->read_at), path + ":4:31");
}

TEST_F(ValidationFile, RefusesAConstantThatIsNoParameter) {
  const auto with = [&](const std::string& set) {
    return complaint(row() + "constants:\n  - {set: " + set + ", about: a}\n");
  };
  EXPECT_EQ(with("gpu.launch"), "taken");
  EXPECT_THAT(with("gpu.lunch"), testing::StartsWith("5:11: set: unknown"));
  EXPECT_THAT(with("gpu"), testing::StartsWith("5:11: set: "));
  EXPECT_THAT(with("fabric.interleave"), testing::StartsWith("5:11: set: "));
  EXPECT_EQ(with("fabric.interleave, instead: stride"), "taken");
  EXPECT_THAT(with("fabric.interleave, instead: strde"), testing::StartsWith("5:11: set: "));
}

TEST_F(ValidationFile, RefusesMissingUnknownAndDoubleKeys) {
  EXPECT_THAT(complaint("  - {id: a}\n"), testing::HasSubstr("missing key 'quantity'"));
  EXPECT_THAT(complaint(row("10", "/a", ", sorce: s")), testing::HasSubstr("did you mean 'source'"));
  EXPECT_THAT(complaint(row() + row()), testing::HasSubstr("is there twice"));
  EXPECT_THAT(complaint(row("10", "/a", ", over: {run: list gpus}")),
              testing::HasSubstr("missing key 'read'"));
  EXPECT_THAT(complaint("  - 7\n"), testing::StartsWith("3:"));
  EXPECT_THAT(complaint("  {}\n"), testing::HasSubstr("rows: expected a list"));
}

}  // namespace
}  // namespace infold::config
