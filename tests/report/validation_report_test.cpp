// What is printed of a comparison, and reading a figure out of JSON.
#include "report/campaign/validation_report.h"

namespace infold::report {
namespace {

TEST(NumberAt, FollowsAPointer) {
  EXPECT_EQ(number_at(R"({"results":[{"time_us":3.5}]})", "/results/0/time_us"), 3.5);
  EXPECT_EQ(number_at("7", ""), 7.0);
}

TEST(NumberAt, HasNothingWhereThereIsNone) {
  for (const char* pointer :
       {"/results/1/time_us", "/results/x", "/nowhere", "/results", "no/pointer", "/results/-"})
    EXPECT_EQ(number_at(R"({"results":[{"time_us":3.5}]})", pointer), std::nullopt) << pointer;
  EXPECT_EQ(number_at("no json", "/a"), std::nullopt);
  EXPECT_EQ(number_at("", ""), std::nullopt);
  EXPECT_EQ(number_at(R"({"a":"text"})", "/a"), std::nullopt);
}

TEST(ValidationReport, TellsMissedFromFailed) {
  std::vector<study::ValidationRow> rows(3);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = std::string(1, static_cast<char>('a' + i));
    rows[i].published = 100;
    rows[i].accept = 0.1;
  }
  rows[1].missing = "a mechanism";
  const std::vector<std::optional<study::Comparison>> comparisons{study::compare(rows[0], 105),
                                                                  study::compare(rows[1], 120), std::nullopt};
  const ValidationReport report{rows, comparisons};
  EXPECT_THAT(validation_text(report), testing::HasSubstr("1 of 3 figures within"));
  EXPECT_THAT(validation_text(report), testing::HasSubstr("1 could not be run"));
  EXPECT_THAT(validation_text(report), testing::EndsWith("missing:\n  b: a mechanism\n"));
  const std::string page =
      validation_markdown(report, {{"gpu.launch", "a delay", {"a"}, ""}, {"gpu.fence", "another", {}, ""}});
  EXPECT_THAT(page, testing::HasSubstr("- `b`: a mechanism"));
  EXPECT_THAT(page, testing::HasSubstr("| `gpu.launch` | a delay | `a` |"));
  EXPECT_THAT(page, testing::HasSubstr("no row"));
  EXPECT_EQ(number_at(validation_json(report), "/rows/1/error"), 0.2);
  EXPECT_EQ(number_at(validation_json(report), "/rows/2/error"), std::nullopt);
  EXPECT_EQ(number_at(validation_json(report), "/summary/failed"), 1.0);
}

TEST(ValidationReport, APolicyHasOneOtherChoice) {
  std::vector<study::ValidationRow> rows(1);
  rows[0].id = std::string(1, 'a');
  rows[0].published = 100;
  const std::vector<std::optional<study::Comparison>> plain{study::compare(rows[0], 100)};
  const std::vector<std::optional<study::Comparison>> other{study::compare(rows[0], 120)};
  const study::CalibratedConstant policy{"fabric.interleave", "a policy", {"a"}, "stride"};
  const std::vector<study::Sensitivity> moved{{policy, other, other}};
  EXPECT_THAT(sensitivity_text({rows, plain}, moved),
              testing::EndsWith("\nfabric.interleave = stride instead: a policy\n  a     +20.0 %\n"));
  EXPECT_THAT(sensitivity_json({rows, plain}, moved), testing::HasSubstr("\"instead\": \"stride\""));
}

}  // namespace
}  // namespace infold::report
