// Files that appear whole or not at all.
#include "report/output/output_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace infold::report {
namespace {

namespace fs = std::filesystem;

class OutputFileTest : public testing::Test {
 protected:
  OutputFileTest() {
    std::string name = (fs::temp_directory_path() / "infold-output-XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  ~OutputFileTest() override { fs::remove_all(folder_); }

  std::string at(const char* name) const { return (folder_ / name).string(); }
  static std::string read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string why(const std::string& path) {
    const auto opened = OutputFile::open(path);
    return opened ? "opened" : opened.error().message;
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, HasNoNameBeforeCommitSoThatNothingIsLeftWhenTheProgramIsKilled) {
  const auto opened = OutputFile::open(at("page.html"));
  ASSERT_TRUE(opened);
  EXPECT_EQ(files(), 0U);
}

TEST_F(OutputFileTest, IsThereAfterCommitAndAlone) {
  auto opened = OutputFile::open(at("page.html"));
  OutputFile& file = opened.value();
  EXPECT_FALSE(fs::exists(at("page.html"))) << "half of it can be seen";
  EXPECT_TRUE(file.commit("whole"));
  EXPECT_EQ(read(at("page.html")), "whole");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, WithoutCommitWhatWasThereStays) {
  std::ofstream(at("page.html")) << "before";
  { auto opened = OutputFile::open(at("page.html")); }
  EXPECT_EQ(read(at("page.html")), "before");
  EXPECT_EQ(files(), 1u);
}

TEST_F(OutputFileTest, ReplacesWhatALinkLeadsTo) {
  std::ofstream(at("real.html")) << "before";
  fs::create_symlink("real.html", at("link.html"));
  auto opened = OutputFile::open(at("link.html"));
  EXPECT_TRUE(opened.value().commit("after"));
  EXPECT_TRUE(fs::is_symlink(at("link.html")));
  EXPECT_EQ(read(at("real.html")), "after");
}

TEST_F(OutputFileTest, FollowsLinksToWhatIsNotThereYet) {
  fs::create_directory(at("folder"));
  fs::create_symlink("folder/middle.html", at("link.html"));
  fs::create_symlink("real.html", at("folder/middle.html"));
  auto opened = OutputFile::open(at("link.html"));
  EXPECT_TRUE(opened.value().commit("new"));
  EXPECT_TRUE(fs::is_symlink(at("link.html")));
  EXPECT_EQ(read(at("folder/real.html")), "new");
  fs::create_symlink("circle", at("circle"));
  EXPECT_EQ(why(at("circle")),
            fmt::format("cannot write {}: Too many levels of symbolic links", at("circle")));
}

TEST_F(OutputFileTest, OthersMayReadItAsAnyFile) {
  std::ofstream(at("usual")) << "x";
  auto opened = OutputFile::open(at("page.html"));
  EXPECT_TRUE(opened.value().commit("x"));
  EXPECT_EQ(fs::status(at("page.html")).permissions(), fs::status(at("usual")).permissions());
}

TEST_F(OutputFileTest, SaysAtOnceWhereItCanNotBe) {
  EXPECT_EQ(why(at("no/such/page.html")),
            fmt::format("cannot write {}: No such file or directory", at("no/such/page.html")));
  EXPECT_EQ(why(folder_.string()), fmt::format("cannot write {}: it is a folder", folder_.string()));
  EXPECT_EQ(why("/dev/null"), "cannot write /dev/null: it is not a file");
  EXPECT_EQ(why(""), "cannot write a file without a name");
  EXPECT_EQ(files(), 0u);
}

TEST_F(OutputFileTest, AFolderThatIsLockedIsNoPlace) {
  if (geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_EQ(why(at("page.html")), fmt::format("cannot write {}: Permission denied", at("page.html")));
  fs::permissions(folder_, fs::perms::owner_all);
}

}  // namespace
}  // namespace infold::report
