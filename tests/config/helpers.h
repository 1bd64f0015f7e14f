// What the tests of this room share: unpacking results, files in a scratch folder.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "config/catalog.h"
#include "config/yaml/position.h"

namespace infold::config {

/// The message of a failed result, "" of one that is fine.
template <class T>
std::string error_of(const sim::Result<T>& r) {
  return r ? "" : to_string(r.error());
}

/// A folder of its own for each test, removed afterwards.
class ScratchTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(::testing::TempDir()) /
              fmt::format("infold_{}_{}_{}", info->test_suite_name(), info->name(), getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string write(std::string_view name, std::string_view text) const {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  /// The error with the folder cut out of it.
  template <class T>
  std::string error(const sim::Result<T>& r) const {
    std::string text = error_of(r);
    const std::string prefix = folder_.string() + "/";
    for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
      text.erase(at, prefix.size());
    return text;
  }

  std::filesystem::path folder_;
};

}  // namespace infold::config
