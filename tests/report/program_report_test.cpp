// What `program show --json` prints is a file that reads back as the same program, for every algorithm.
#include "report/program_report.h"

#include <filesystem>
#include <fstream>
#include <numeric>

#include "coll/algo/algorithms.h"
#include "config/program_file.h"

namespace infold::report {
namespace {

namespace fs = std::filesystem;
using namespace sim::literals;

class ProgramReport : public testing::Test {
 protected:
  ProgramReport()
      : file_((fs::path(testing::TempDir()) /
               (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + ".json"))
                  .string()) {}
  ~ProgramReport() override { fs::remove(file_); }

  sim::Result<config::ProgramFile> read_back(const std::string& text) {
    std::ofstream(file_) << text;
    return config::load_program(file_);
  }
  std::string file_;
};

TEST_F(ProgramReport, ReadsBackAsTheSameProgram) {
  net::FabricSpec fabric;
  const auto blueprint = net::draw(fabric, 9).value();
  std::vector<int> gpus(9);
  std::iota(gpus.begin(), gpus.end(), 0);
  coll::Tuning tuning;
  tuning.channels = 3;
  for (const coll::Algorithm& a : coll::algorithms()) {
    for (coll::Collective c : a.collectives) {
      const bool barrier = c == coll::Collective::kBarrier;
      const coll::Program program = coll::compile(a, {.collective = c,
                                                      .bytes = barrier ? 0_B : sim::Bytes{72'000},
                                                      .gpus = gpus,
                                                      .fabric = &blueprint,
                                                      .tuning = tuning,
                                                      .root = 4});
      const auto read = read_back(program_json(program, {a.name, "here"}));
      ASSERT_TRUE(read) << a.name << ": " << to_string(read.error());
      const coll::Program& again = read.value().own.program;
      EXPECT_EQ(again.collective, program.collective);
      EXPECT_EQ(again.bytes, program.bytes);
      EXPECT_EQ(again.ranks, program.ranks);
      EXPECT_EQ(again.channels, program.channels);
      EXPECT_EQ(again.root, program.root);
      EXPECT_EQ(again.scratch, program.scratch);
      EXPECT_EQ(again.tuning.buffer, program.tuning.buffer);
      EXPECT_EQ(again.tuning.buffer_steps, program.tuning.buffer_steps);
      ASSERT_EQ(again.lists.size(), program.lists.size());
      EXPECT_EQ(program_json(again, {a.name, "here"}), program_json(program, {a.name, "here"}));
    }
  }
}

TEST_F(ProgramReport, ReadsBackWithItsProtocol) {
  const auto blueprint = net::draw(net::FabricSpec{}, 4).value();
  const std::vector<int> gpus = {0, 1, 2, 3};
  coll::Tuning settings;
  settings.ll.buffer = 96_KiB;
  settings.ll128.threads = 320;
  for (const coll::Protocol protocol : {coll::Protocol::kLl, coll::Protocol::kLl128}) {
    const coll::Program program =
        coll::compile(*coll::find_algorithm("ring"), {.collective = coll::Collective::kAllReduce,
                                                      .bytes = 72'000_B,
                                                      .gpus = gpus,
                                                      .fabric = &blueprint,
                                                      .tuning = coll::for_protocol(settings, protocol)});
    const auto read = read_back(program_json(program, {"ring", "here"}));
    ASSERT_TRUE(read) << to_string(read.error());
    const coll::Tuning& again = read->own.program.tuning;
    EXPECT_EQ(again.protocol, protocol);
    EXPECT_EQ(again.buffer, program.tuning.buffer);
    EXPECT_EQ(again.threads, program.tuning.threads);
    EXPECT_EQ(again.slice_steps, program.tuning.slice_steps);
    EXPECT_EQ(again.chunk_grain, program.tuning.chunk_grain);
    EXPECT_TRUE(program_json(read->own.program, {"ring", "here"}) == program_json(program, {"ring", "here"}));
    // What the protocol does not replace is the library's, and the name that of the file.
    EXPECT_EQ(read->own.settings.buffer, coll::Tuning{}.buffer);
    EXPECT_EQ(read->own.name, "ReadsBackWithItsProtocol.json");
  }
}

TEST_F(ProgramReport, AHugeNumberIsRefusedAndNotAdded) {
  const auto read = read_back(
      "{collective: all_reduce, bytes: 64, ranks: 2, channels: 1, lists: [{rank: 0, channel: 0, steps: "
      "[{to: [1], bytes: 64, input: 9223372036854775807}]}]}");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, testing::HasSubstr("is not between 0 and"));
}

TEST_F(ProgramReport, TooManyPeersAreRefused) {
  const auto read = read_back(
      "{collective: all_reduce, bytes: 64, ranks: 9, channels: 1, lists: [{rank: 0, channel: 0, steps: "
      "[{to: [1, 2, 3, 4, 5, 6, 7, 8], bytes: 64, input: 0}]}]}");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "to: more than 7 ranks");
}

}  // namespace
}  // namespace infold::report
