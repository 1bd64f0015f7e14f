// Traces of Chakra: what becomes a workload, what is refused and where, and workloads of ours there and back.
#include "trace_help.h"

#include "formats/trace/chakra_own.h"
#include "formats/workload/workload_file.h"
#include "work/check.h"

namespace infold::formats {
namespace {

using namespace help;
using namespace sim::literals;
using ::testing::Contains;
using ::testing::HasSubstr;

class Chakra : public FolderTest {
 protected:
  /// One file for each rank.
  sim::Result<TracedWorkload> load(const std::vector<std::string>& ranks, TraceOptions options = {}) {
    std::vector<std::string> files;
    for (std::size_t r = 0; r < ranks.size(); ++r)
      files.push_back(write(fmt::format("t.{}.et", r), ranks[r]));
    return load_workload(files, options);
  }
  static const work::Graph& graph_of(const sim::Result<TracedWorkload>& loaded) {
    EXPECT_TRUE(loaded) << (loaded ? "" : to_string(loaded.error()));
    return loaded->workload.graph;
  }
};

TEST_F(Chakra, KernelsTakeTheirTimeAndWaitForWhatTheyDependOn) {
  const auto loaded = load({chakra({kernel(1, 10), kernel(2, 20, {1})})});
  const work::Graph& g = graph_of(loaded);
  const auto kernels = all_of<work::Timed>(g);
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].time, 10_us);
  EXPECT_EQ(kernels[1].time, 20_us);
  EXPECT_EQ(g.ranks(), 1);
}

TEST_F(Chakra, SizesOfCollectivesAreWhatARankGives) {
  struct Case {
    std::int64_t type;
    coll::Collective what;
    std::int64_t bytes;
  };
  for (const Case& c :
       {Case{0, coll::Collective::kAllReduce, 4096}, Case{2, coll::Collective::kAllGather, 8192},
        Case{6, coll::Collective::kAllToAll, 4096}, Case{7, coll::Collective::kReduceScatter, 4096},
        Case{5, coll::Collective::kBroadcast, 4096}, Case{1, coll::Collective::kReduce, 4096}}) {
    const std::string rank = chakra({collective(1, c.type, 4096)});
    const auto loaded = load({rank, rank});
    const work::Graph& g = graph_of(loaded);
    const auto all = all_of<work::Collective>(g);
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].what, c.what);
    EXPECT_EQ(g.buffers[static_cast<std::size_t>(all[0].buffer)].bytes, sim::Bytes{c.bytes});
  }
}

TEST_F(Chakra, GatherIsAMessageFromEveryOtherToTheRoot) {
  const std::string rank = chakra({collective(1, 3, 4096)});
  const auto loaded = load({rank, rank, rank});
  EXPECT_EQ(all_of<work::Transfer>(graph_of(loaded), 0).size(), 2U);
  EXPECT_EQ(all_of<work::Transfer>(graph_of(loaded), 1).size(), 1U);
}

TEST_F(Chakra, ASenderDoesNotWaitForItsReceiver) {
  // Every rank sends to the next before it receives: with messages that wait for each other nothing would
  // move.
  std::vector<std::string> ranks;
  for (int r = 0; r < 3; ++r)
    ranks.push_back(
        chakra({send(1, (r + 1) % 3, 4096), receive(2, (r + 2) % 3, 4096, {1}), kernel(3, 5, {2})}));
  const auto loaded = load(ranks);
  EXPECT_TRUE(work::check(graph_of(loaded)));
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("does not wait until the other")));
}

TEST_F(Chakra, OperationsOfTheCpuAreDelaysOfTheHost) {
  const auto loaded =
      load({chakra({node(1, ChakraType::kCompute, {}, {number("is_cpu_op", 1), number("tid", 7)}, 30),
                    kernel(2, 10, {1})})});
  const auto delays = all_of<work::Delay>(graph_of(loaded));
  ASSERT_EQ(delays.size(), 1U);
  EXPECT_EQ(delays[0].time, 30_us);
}

TEST_F(Chakra, AKernelWithoutDurationIsAProductOfAsManyOperations) {
  const auto loaded = load(
      {chakra({node(1, ChakraType::kCompute, {}, {number("is_cpu_op", 0), number("num_ops", 2'000'000)})})});
  const auto kernels = all_of<work::Kernel>(graph_of(loaded));
  ASSERT_EQ(kernels.size(), 1U);
  EXPECT_EQ(work::size_of(loaded->workload.graph.tensors, std::get<work::MatMul>(kernels[0].what)).k, 100);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("square products")));
}

TEST_F(Chakra, ProcessGroupsAreThoseThatTheTraceWrites) {
  const auto rank = [](const char* group) {
    ChakraNode n = collective(1, 0, 4096);
    n.attributes.push_back({.name = "pg_name", .value = std::string(group)});
    n.attributes.push_back({.name = "pg_ranks", .value = std::string(group[0] == 'a' ? "[0, 1]" : "[2, 3]")});
    return chakra({n});
  };
  const auto loaded = load({rank("a"), rank("a"), rank("b"), rank("b")});
  ASSERT_EQ(graph_of(loaded).communicators.size(), 1U);
  EXPECT_EQ(loaded->workload.graph.communicators[0].groups, (std::vector<std::vector<int>>{{0, 1}, {2, 3}}));
}

TEST_F(Chakra, OneFileStandsForAsManyRanksAsAreAskedFor) {
  const auto loaded = load({chakra({kernel(1, 10), collective(2, 0, 4096, {1})})}, {.ranks = 6});
  EXPECT_EQ(graph_of(loaded).ranks(), 6);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("5 of 6 ranks have no trace")));
}

TEST_F(Chakra, ACircleIsRefusedWithItsNodes) {
  const auto loaded = load({chakra({kernel(1, 10, {2}), kernel(2, 10, {1})})});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()),
              HasSubstr("so that none can begin: 'n1' waits for 'n2'; 'n2' waits for 'n1'"));
}

TEST_F(Chakra, ControlThatWouldMakeACircleIsNoOrder) {
  ChakraNode caller = kernel(1, 10);
  caller.control = {2};
  const auto loaded = load({chakra({caller, kernel(2, 20, {1})})});
  EXPECT_EQ(all_of<work::Timed>(graph_of(loaded)).size(), 2U);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("only data dependencies count")));
}

TEST_F(Chakra, CollectivesThatDoNotMatchAreRefusedWithTheirNodes) {
  const auto loaded = load({chakra({collective(1, 0, 4096)}), chakra({collective(7, 5, 4096)})});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("n7 of rank 1 meets n1 of rank 0"));
}

TEST_F(Chakra, AMessageThatNobodySendsIsRefused) {
  const auto loaded = load({chakra({kernel(1, 10)}), chakra({receive(4, 0, 4096)})});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("n4 waits for other ranks"));
}

TEST_F(Chakra, ATraceThatIsCutOffSaysWhere) {
  const std::string whole = chakra({kernel(1, 10), kernel(2, 20, {1})});
  const auto loaded = load({whole.substr(0, whole.size() - 3)});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("byte 35: the trace is cut off"));
}

TEST_F(Chakra, AMessageThatAnnouncesMoreThanTheLimitIsRefusedBeforeItIsRead) {
  const auto loaded = load({chakra({}) + std::string("\xff\xff\xff\xff\x0f", 5)});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("at most 64 MiB"));
}

TEST_F(Chakra, ANodeWithoutASizeIsNamed) {
  const auto loaded = load({chakra({node(5, ChakraType::kCollective, {}, {number("comm_type", 0)})})});
  ASSERT_FALSE(loaded);
  EXPECT_THAT(to_string(loaded.error()), HasSubstr("node 5 'n5': it does not say how much"));
}

TEST_F(Chakra, TheSameRankTwiceIsRefusedUnlessFilesAreNumberedInTheirOrder) {
  const std::string rank = chakra({kernel(1, 10), collective(2, 0, 4096, {1})});
  const auto loaded = load_workload({write("a.et", rank), write("b.et", rank)});
  EXPECT_EQ(graph_of(loaded).ranks(), 2);
  EXPECT_THAT(loaded->notes.assumed, Contains(HasSubstr("in their order")));
}

}  // namespace
}  // namespace infold::formats
