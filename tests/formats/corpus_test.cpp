// The inputs of fuzz/corpus for the readers of foreign files: taken, or refused with one line, at once.
#include <chrono>

#include "helpers.h"
#include "support/format_readers.h"

namespace infold::config {

/// Tests are listed by it.
void PrintTo(const NamedReader& reader, std::ostream* out) {
  *out << reader.name;
}

}  // namespace infold::config

namespace infold::formats {
namespace {

namespace fs = std::filesystem;

constexpr double kHang = 20;  // seconds, under sanitizers

class ForeignCorpus : public testing::TestWithParam<config::NamedReader> {};

TEST_P(ForeignCorpus, EveryInputIsTakenOrRefusedWithOneLineAndAtOnce) {
  std::size_t inputs = 0;
  std::size_t refused = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(INFOLD_SOURCE_DIR) / "fuzz" / "corpus" / GetParam().name)) {
    const auto begin = std::chrono::steady_clock::now();
    const std::string refusal = GetParam().refusal(entry.path().string());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(config::is_one_line(refusal)) << entry.path() << ": " << refusal;
    EXPECT_LT(took.count(), kHang) << entry.path();
    ++inputs;
    refused += refusal.empty() ? 0 : 1;
  }
  EXPECT_GE(inputs, 10U);
  EXPECT_GT(refused, 0U);
  EXPECT_LT(refused, inputs);
}

INSTANTIATE_TEST_SUITE_P(Readers, ForeignCorpus, testing::ValuesIn(kFormatReaders), [](const auto& reader) {
  std::string name(reader.param.name);
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace infold::formats
