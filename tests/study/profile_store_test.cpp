// Profiles that are kept in files.
#include "study/composed/profile_store.h"

#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace infold::study::composed {
namespace {

namespace fs = std::filesystem;

const std::string kKey = "0123456789abcdef0123456789abcdef";

Sampled some() {
  return {.kernels = {1.5, 0.1},
          .pace = {0.25, 1e-300},
          .first = 3,
          .next = 4,
          .sent = 5,
          .events = 6,
          .packet_hops = 7};
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("infold-profiles-" + std::to_string(::getpid()));
  Folder() { fs::remove_all(path); }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
};

void expect_same(const Sampled& a, const Sampled& b) {
  EXPECT_EQ(a.kernels, b.kernels);
  EXPECT_EQ(a.pace, b.pace);
  EXPECT_EQ(a.first, b.first);
  EXPECT_EQ(a.next, b.next);
  EXPECT_EQ(a.sent, b.sent);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.packet_hops, b.packet_hops);
}

TEST(ProfileStore, AnotherProcessFindsWhatOneHasKept) {
  const Folder folder;
  ProfileStore("v", folder.path).keep(kKey, some());
  const auto found = ProfileStore("v", folder.path).find(kKey);
  ASSERT_TRUE(found);
  expect_same(*found, some());
  EXPECT_FALSE(ProfileStore("v", folder.path).find("f" + kKey.substr(1)));
}

TEST(ProfileStore, WithoutAFolderItKeepsThemInMemory) {
  ProfileStore store("v");
  EXPECT_FALSE(store.find(kKey));
  store.keep(kKey, some());
  EXPECT_TRUE(store.find(kKey));
}

TEST(ProfileStore, DamagedTextIsNoProfile) {
  const std::string text = text_of(kKey, some());
  ASSERT_TRUE(read_profile(kKey, text));
  for (std::size_t n = 0; n < text.size(); ++n) EXPECT_FALSE(read_profile(kKey, text.substr(0, n))) << n;
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = other[i] == '1' ? '2' : '1';
    EXPECT_FALSE(read_profile(kKey, other)) << i;
  }
}

TEST(ProfileStore, ADamagedFileIsReplaced) {
  const Folder folder;
  ProfileStore("v", folder.path).keep(kKey, some());
  std::ofstream(folder.path / "01" / kKey) << "infold profile 1\n";
  EXPECT_FALSE(ProfileStore("v", folder.path).find(kKey));
  ProfileStore("v", folder.path).keep(kKey, some());
  EXPECT_TRUE(ProfileStore("v", folder.path).find(kKey));
}

TEST(ProfileStore, TheFolderDoesNotGrowBeyondItsBound) {
  const Folder folder;
  ProfileStore store("v", folder.path);
  Sampled large = some();
  large.kernels.assign(20'000, 1.0 / 3);
  for (int i = 0; i < 12; ++i) store.keep("01" + std::to_string(100 + i) + kKey, large);
  std::uintmax_t sum = 0;
  for (const auto& file : fs::directory_iterator(folder.path / "01")) sum += file.file_size();
  EXPECT_GT(sum, 0U);
  EXPECT_LE(sum, ProfileStore::kMostBytesPerPart);
}

TEST(ProfileStore, SeveralCanWriteTheSame) {
  const Folder folder;
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 4; ++i) {
      writers.emplace_back([&] {
        for (int k = 0; k < 50; ++k) ProfileStore("v", folder.path).keep(kKey, some());
      });
    }
  }
  EXPECT_TRUE(ProfileStore("v", folder.path).find(kKey));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path / "01"), fs::directory_iterator{}), 1);
}

TEST(ProfileStore, AFolderThatCannotBeWrittenIsNoError) {
  ProfileStore store("v", "/proc/no-such-folder");
  store.keep(kKey, some());
  EXPECT_TRUE(store.find(kKey));
}

}  // namespace
}  // namespace infold::study::composed
