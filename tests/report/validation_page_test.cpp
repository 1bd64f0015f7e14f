// docs/validation.md is made from validation/. What takes minutes to simulate is not done again here, but its
// rows, sources, commands and constants must be those of today.
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "config/validation_file.h"
#include "report/campaign/validation_report.h"

namespace infold::report {
namespace {

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::stringstream in(line);
  for (std::string cell; std::getline(in, cell, '|');) cells.push_back(cell);
  return cells;
}

/// Without what a simulation says: the summary, two columns and the verdict of each row, the list of misses.
std::vector<std::string> what_is_published(std::istream& page) {
  std::vector<std::string> lines;
  bool misses = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("## ")) misses = line.starts_with("## What is missed");
    if (misses || line.starts_with("commands are in")) continue;
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() == 7 && line.ends_with("|")) {
      const bool calibrated = cells[6].find("calibrated") != std::string::npos;
      line = fmt::format("{}|{}|{}|{}", cells[1], cells[2], cells[5], calibrated ? " calibrated" : "");
    }
    lines.push_back(line);
  }
  return lines;
}

TEST(ValidationPage, HasTheRowsOfToday) {
  const auto loaded = config::built_in_validation();
  const auto& validation = loaded.value();
  const std::vector<std::optional<study::Comparison>> none(validation.rows.size());
  std::stringstream today(validation_markdown({validation.rows, none}, validation.constants));
  std::ifstream written(INFOLD_SOURCE_DIR "/docs/validation.md");
  if (!written) GTEST_SKIP() << "docs/validation.md is not there yet; tools/validation-page writes it";
  const std::vector<std::string> expected = what_is_published(today);
  EXPECT_GT(expected.size(), validation.rows.size());
  EXPECT_EQ(what_is_published(written), expected) << "tools/validation-page writes it anew";
}

}  // namespace
}  // namespace infold::report
