// What the fuzzer found to be new ways through the readers (fuzz/corpus), given to them again: taken, or
// refused with one line, at once. Keeps what it found found where there is no fuzzer.
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>

#include "helpers.h"
#include "support/readers.h"

namespace infold::config {

/// Tests are listed by it.
void PrintTo(const NamedReader& reader, std::ostream* out) {
  *out << reader.name;
}

namespace {

namespace fs = std::filesystem;

/// Seconds; a machine of a thousand GPUs takes two under sanitizers.
constexpr double kHang = 20;

class Corpus : public ScratchTest, public testing::WithParamInterface<NamedReader> {};

TEST_P(Corpus, EveryInputIsTakenOrRefusedWithOneLineAndAtOnce) {
  std::size_t inputs = 0;
  std::size_t refused = 0;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(INFOLD_SOURCE_DIR) / "fuzz" / "corpus" / GetParam().name)) {
    const fs::path input = folder_ / "input.yaml";  // a name without .yaml would be that of a preset
    fs::copy_file(entry.path(), input, fs::copy_options::overwrite_existing);
    const auto begin = std::chrono::steady_clock::now();
    const std::string refusal = GetParam().refusal(input.string());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(is_one_line(refusal)) << entry.path() << ": " << refusal;
    EXPECT_LT(took.count(), kHang) << entry.path();
    ++inputs;
    refused += refusal.empty() ? 0 : 1;
  }
  EXPECT_GE(inputs, 10U);
  EXPECT_GT(refused, 0U);
}

INSTANTIATE_TEST_SUITE_P(Readers, Corpus, testing::ValuesIn(kReaders),
                         [](const auto& reader) { return std::string(reader.param.name); });

}  // namespace
}  // namespace infold::config
