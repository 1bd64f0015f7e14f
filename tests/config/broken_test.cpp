// Every file in broken/ is refused, with exactly the line that expected.txt has for it, and at once.
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>

#include "config/catalog.h"
#include "helpers.h"

namespace infold::config {
namespace {

namespace fs = std::filesystem;

fs::path folder() {
  return fs::path(INFOLD_SOURCE_DIR) / "tests" / "config" / "broken";
}

/// File name to the line it must give: "name.yaml:2:3: message".
std::map<std::string, std::string> expected() {
  std::map<std::string, std::string> out;
  std::ifstream in(folder() / "expected.txt");
  for (std::string line; std::getline(in, line);) {
    const std::size_t tab = line.find('\t');
    if (tab != std::string::npos) out[line.substr(0, tab)] = line.substr(tab + 1);
  }
  return out;
}

/// Messages name files as they were referred to; the golden ones name them alone.
std::string without_folder(std::string text) {
  const std::string prefix = folder().string() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

TEST(Broken, EveryFileIsRefusedWithItsLine) {
  const auto lines = expected();
  std::size_t files = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder())) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const std::string name = entry.path().filename().string();
    const auto begin = std::chrono::steady_clock::now();
    const std::string got = without_folder(error_of(load_any(entry.path().string(), {})));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took.count(), 0.5) << name;
    const auto line = lines.find(name);
    if (line == lines.end()) {
      ADD_FAILURE() << "expected.txt has no line for\n" << name << "\t" << got;
      continue;
    }
    EXPECT_EQ(got, line->second);
  }
  EXPECT_EQ(files, lines.size()) << "expected.txt names a file that is not there";
  EXPECT_GE(files, 30U);
}

}  // namespace
}  // namespace infold::config
