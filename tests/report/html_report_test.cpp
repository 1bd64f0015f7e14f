// The page of --report: what is put into it stays data, and comes out as it was.
#include "report/output/html_report.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace infold::report {
namespace {

using nlohmann::json;

constexpr const char* kResult = R"({"schema":1,"command":"bench","results":[]})";

Page page_of(std::string typed) {
  return {
      .version = "1.2.3",
      .typed = std::move(typed),
      .systems = {{.name = "a</script>b",
                   .summary = "<!-- s",
                   .parameters = {{.path = "gpu.sms",
                                   .type = "integer",
                                   .value = "108",
                                   .min = "1",
                                   .max = "1024",
                                   .meaning = "SMs",
                                   .choices = {}}}}},
      .machines =
          {{.label = "ring",
            .bytes = 1024,
            .use = {.gpus = 1, .nodes = 2, .links = {{.from = 0, .to = 1, .cables = 3, .mean = 0.25}}}}},
      .published = {{.system = "s", .algo = "ring", .bytes = 1024, .time_us = 2.5, .source = "a <paper>"}},
      .counters =
          {{.row = 2,
            .gpu = "gpu0",
            .counters = {{.name = "links out", .unit = "GB/s", .at_ms = {0, 0.5}, .values = {7, 0}}}}},
      .result = kResult};
}

/// What a browser takes for the data: up to the first closing tag.
std::string data_of(const std::string& html) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const auto begin = html.find(open);
  EXPECT_NE(begin, std::string::npos);
  const auto end = html.find("</script", begin);
  return html.substr(begin + open.size(), end - begin - open.size());
}

TEST(HtmlReport, DataComeOutAsTheyWentIn) {
  const json data = json::parse(data_of(html_page(page_of("infold bench 'a b'"))));
  EXPECT_EQ(data["infold"], "1.2.3");
  EXPECT_EQ(data["typed"], "infold bench 'a b'");
  EXPECT_EQ(data["result"], json::parse(kResult));
  EXPECT_EQ(data["systems"][0]["name"], "a</script>b");
  EXPECT_EQ(data["systems"][0]["summary"], "<!-- s");
  EXPECT_EQ(data["systems"][0]["parameters"][0]["value"], "108");
  EXPECT_EQ(data["machines"][0]["links"][0], json::parse("[0, 1, 3, 0.25, 0.0]"));
  EXPECT_EQ(data["published"][0]["source"], "a <paper>");
  EXPECT_EQ(data["counters"][0]["row"], 2);
  EXPECT_EQ(data["counters"][0]["lines"][0]["values"], nlohmann::json({7, 0}));
}

TEST(HtmlReport, HoldsAllItNeeds) {
  const std::string html = html_page(page_of("infold"));
  EXPECT_EQ(html.find("@@"), html.npos) << "a place that was not filled in";
  for (const char* outside : {"<script src", "<img", "<iframe", "@import", "rel=\"stylesheet\""})
    EXPECT_EQ(html.find(outside), html.npos) << outside;
  EXPECT_NE(html.find("Apache License"), html.npos) << "the chart library's licence";
}

TEST(HtmlReport, WordsThatAreNotUtf8DoNotBreakIt) {
  const json data = json::parse(data_of(html_page(page_of("infold bench \xff\xfe"))));
  EXPECT_EQ(data["typed"], "infold bench \xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(HtmlReport, APlaceholderInTheDataIsData) {
  const json data = json::parse(data_of(html_page(page_of("@@data@@ @@script@@"))));
  EXPECT_EQ(data["typed"], "@@data@@ @@script@@");
}

RC_GTEST_PROP(InsideScript, NoElementEndsAndNothingChanges, (const std::vector<std::uint8_t>& bytes)) {
  // Of the letters that matter, in any order.
  const std::string letters = "</!-->scriptSCRIPT\"\\ \n\t&;'";
  std::string text;
  for (const std::uint8_t b : bytes) text += letters[b % letters.size()];
  const std::string written = json(text).dump();
  const std::string inside = inside_script(written);
  RC_ASSERT(inside.find('<') == std::string::npos);
  RC_ASSERT(json::parse(inside).get<std::string>() == text);
}

}  // namespace
}  // namespace infold::report
