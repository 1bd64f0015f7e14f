// Logs of nccl-tests: several runs in one file, prefixes of launchers, old layouts, rows that are cut off.
#include "formats/nccl_tests.h"

#include "helpers.h"

namespace infold::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string rank_lines(int n) {
  std::string text = "# Using devices\n";
  for (int r = 0; r < n; ++r)
    text += fmt::format(
        "#  Rank {:>2} Group  0 Pid {} on node{} device  {} [0000:{:02x}:00] NVIDIA H100 80GB HBM3\n", r,
        100 + r, r / 4, r % 4, r);
  return text;
}
std::string log_of(std::string_view test, int n, const std::string& rows) {
  return fmt::format(
      "# nccl-tests version 2.17.0 nccl-headers=22703 nccl-library=22703\n# Collective test starting: "
      "{}_perf\n"
      "# nThread 1 nGpus 1\n#\n{}#  out-of-place  in-place\n{}# Out of bounds values : 0 OK\n",
      test, rank_lines(n), rows);
}
const std::string kRow =
    "  1048576  262144  float  sum  -1  20.00  52.43  78.64  0  21.50  48.77  73.16  2\n";

Measurements taken_log(std::string_view text) {
  auto read = read_nccl_tests(text, "log");
  EXPECT_EQ(error_of(read), "");
  return read ? std::move(*read) : Measurements{};
}

TEST(NcclTests, GivesEveryRunOfAFile) {
  const Measurements read =
      taken_log(log_of("all_reduce", 4, kRow) + "\n" +
                log_of("all_gather", 8,
                       "1024 256 float none -1 9.5 0.11 0.09 0 9.4 0.11 0.09 0\n2048 512 "
                       "float none -1 9.9 0.2 0.18 0 9.8 0.2 0.18 0\n"));
  ASSERT_EQ(read.runs.size(), 2U);
  const MeasuredRun& reduce = read.runs[0];
  EXPECT_EQ(reduce.collective, coll::Collective::kAllReduce);
  EXPECT_EQ(reduce.ranks, 4);
  EXPECT_EQ(reduce.hosts, 1);
  EXPECT_EQ(reduce.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(reduce.version, "22703");
  ASSERT_EQ(reduce.rows.size(), 1U);
  EXPECT_EQ(reduce.rows[0].bytes, sim::Bytes{1048576});
  EXPECT_EQ(reduce.rows[0].op, "sum");
  EXPECT_EQ(reduce.rows[0].time_us, 20.0);
  EXPECT_EQ(reduce.rows[0].in_place_us, 21.5);
  EXPECT_EQ(reduce.rows[0].wrong, 2);
  EXPECT_EQ(read.runs[1].collective, coll::Collective::kAllGather);
  EXPECT_EQ(read.runs[1].hosts, 2);
  EXPECT_EQ(read.runs[1].rows.size(), 2U);
  EXPECT_THAT(read.notes.assumed, IsEmpty());
}

TEST(NcclTests, IsTheSameBehindThePrefixesOfLaunchers) {
  const std::string plain = log_of("all_reduce", 4, kRow);
  for (const std::string_view prefix : {"[1,0]<stdout>:", "[1,0]<stdout>: ", "0: "}) {
    std::string text;
    std::size_t begin = 0;
    for (std::size_t end = plain.find('\n'); end != std::string::npos;
         begin = end + 1, end = plain.find('\n', begin))
      text += fmt::format("{}{}\n", prefix, plain.substr(begin, end - begin));
    const Measurements read = taken_log(text);
    ASSERT_EQ(read.runs.size(), 1U) << prefix;
    EXPECT_EQ(read.runs[0].ranks, 4);
    EXPECT_EQ(read.runs[0].rows.size(), 1U);
    EXPECT_THAT(read.notes.ignored, IsEmpty());
  }
}

TEST(NcclTests, FindsOutWhichTestAnOldLogIsOf) {
  const auto of = [](int n, const std::string& row) {
    return taken_log("# nThread 1 nGpus 1\n" + rank_lines(n) + row).runs[0].collective;
  };
  EXPECT_EQ(of(4, kRow), coll::Collective::kAllReduce);
  EXPECT_EQ(of(4, "1048576 65536 float sum -1 20.00 52.43 39.32 0\n"), coll::Collective::kReduceScatter);
  EXPECT_EQ(of(4, "1048576 262144 float none 0 20.00 52.43 52.43 0\n"), coll::Collective::kBroadcast);
  EXPECT_EQ(of(4, "1048576 65536 float none -1 20.00 52.43 39.32 0\n"), std::nullopt);
  EXPECT_THAT(taken_log("# nThread 1 nGpus 1\n" + rank_lines(4) + kRow).notes.assumed,
              ElementsAre("the run from line 7 on is of all_reduce, by its bandwidths"));
}

TEST(NcclTests, LeavesOutWhatIsNoRow) {
  const Measurements read =
      taken_log(log_of("all_reduce", 4,
                       kRow + "  2097152  524288  float  sum  -1  30.00\nnode1:1:2 [0] NCCL INFO x\n" +
                           "  1024  256  float  sum  -1  0.00  0.00  0.00  N/A  21.50  48.77  73.16  N/A\n"));
  EXPECT_EQ(read.runs[0].rows.size(), 1U);
  EXPECT_THAT(read.notes.ignored, ElementsAre("1 other lines", "2 rows with columns missing"));
  EXPECT_EQ(error_of(read_nccl_tests("# algbw busbw\n", "log")), "log:1:1: there is no row of results in it");
}

}  // namespace
}  // namespace infold::formats
