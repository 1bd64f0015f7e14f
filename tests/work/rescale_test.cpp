// Graphs on other numbers of ranks: what grows, what stays, and what is refused.
#include "work/rescale.h"

#include <gmock/gmock.h>

#include "graph_help.h"
#include "work/check.h"

namespace infold::work {
namespace {

using namespace help;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Groups = std::vector<std::vector<int>>;

/// All ranks reduce in the groups of each communicator.
Graph reducing(int ranks, const std::vector<Communicator>& communicators) {
  Graph g = graph_of(ranks);
  g.communicators = communicators;
  g.scripts[0].streams.clear();
  for (std::size_t c = 0; c < communicators.size(); ++c) {
    Stream stream{.name = communicators[c].name,
                  .kind = Stream::Kind::kCommunication,
                  .communicator = static_cast<int>(c)};
    g.add(stream, {.what = Collective{.communicator = static_cast<int>(c),
                                      .what = coll::Collective::kReduceScatter,
                                      .buffer = g.add(Buffer{4096_B})}});
    g.scripts[0].streams.push_back(std::move(stream));
  }
  return g;
}

TEST(Rescale, DataParallelRanksBecomeMore) {
  const auto r = rescaled(reducing(2, {{.name = "world", .groups = {{0, 1}}}}), 6);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->graph.ranks(), 6);
  EXPECT_EQ(r->graph.communicators[0].groups, (Groups{{0, 1, 2, 3, 4, 5}}));
  EXPECT_TRUE(check(r->graph));
  EXPECT_EQ(r->graph.buffers[0].bytes, 4128_B);  // whole elements for each of six
}

TEST(Rescale, TensorGroupsStayAndDataGroupsGrow) {
  const auto r = rescaled(
      reducing(4, {{.name = "tp", .groups = {{0, 1}, {2, 3}}}, {.name = "dp", .groups = {{0, 2}, {1, 3}}}}),
      8);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->graph.communicators[0].groups, (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(r->graph.communicators[1].groups, (Groups{{0, 2, 4, 6}, {1, 3, 5, 7}}));
  EXPECT_TRUE(check(r->graph));
  EXPECT_THAT(r->assumed, Contains(HasSubstr("communicators that stay as they are: tp")));
}

TEST(Rescale, FewerReplicasThanBefore) {
  const auto r = rescaled(
      reducing(4, {{.name = "tp", .groups = {{0, 1}, {2, 3}}}, {.name = "dp", .groups = {{0, 2}, {1, 3}}}}),
      2);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->graph.communicators[0].groups, (Groups{{0, 1}}));
  EXPECT_TRUE(std::holds_alternative<Marker>(r->graph[1].what));  // one replica has nobody to tell
  EXPECT_TRUE(check(r->graph));
}

TEST(Rescale, AGroupOfAllThatDividesTheModelIsRepeated) {
  const auto r = rescaled(reducing(2, {{.name = "tensor", .groups = {{0, 1}}}}), 4);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->graph.communicators[0].groups, (Groups{{0, 1}, {2, 3}}));
  EXPECT_THAT(r->assumed, Contains(HasSubstr("do not communicate")));
}

TEST(Rescale, AGroupOfAllGrowsBesideATensorGroupOfAll) {
  const auto r = rescaled(
      reducing(2, {{.name = "tp", .groups = {{0, 1}}}, {.name = "default_pg", .groups = {{0, 1}}}}), 4);
  ASSERT_TRUE(r);
  EXPECT_EQ(r->graph.communicators[0].groups, (Groups{{0, 1}, {2, 3}}));
  EXPECT_EQ(r->graph.communicators[1].groups, (Groups{{0, 1, 2, 3}}));
}

TEST(Rescale, ANumberThatIsNoNumberOfReplicasIsRefused) {
  const auto r = rescaled(reducing(2, {{.name = "tp", .groups = {{0, 1}}}}), 3);
  ASSERT_FALSE(r);
  EXPECT_THAT(r.error().message, HasSubstr("only multiples of 2"));
}

TEST(Rescale, RanksWithScriptsOfTheirOwnKeepThem) {
  Graph g = graph_of(2);
  g.scripts.push_back(g.scripts[0]);
  g.add(compute(g, 0), timed(5_us));
  g.add(compute(g, 1), timed(7_us));
  g.script_of = {0, 1};
  g.communicators[0].name = "pipeline";
  g.add(communication(g, 0), all_reduce(g, 4096_B));
  g.add(communication(g, 1), {.what = Collective{.buffer = 0}});
  const auto r = rescaled(std::move(g), 4);
  ASSERT_TRUE(r);
  EXPECT_THAT(r->graph.script_of, ElementsAre(0, 1, 0, 1));
}

}  // namespace
}  // namespace infold::work
