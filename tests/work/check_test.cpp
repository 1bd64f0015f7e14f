// Which graphs are refused, and what is said.
#include "work/check.h"

#include "graph_help.h"

namespace infold::work {
namespace {

using namespace help;

std::string why(const sim::Status& s) {
  if (s) return "";
  std::string text = s.error().message;
  for (const std::string& line : s.error().details) text += "\n" + line;
  return text;
}

TEST(CheckGraph, AcceptsWhatCanRunAndOrdersIt) {
  Graph g = graph_of(2);
  const OpId a = g.add(compute(g), marker());
  const OpId sum = g.add(communication(g), all_reduce(g, 8_KiB, {a}));
  const OpId b = g.add(compute(g), marker("end", {sum}));
  EXPECT_EQ(why(check(g)), "");
  const auto order = order_of(g).value();
  ASSERT_EQ(order.size(), 6U);
  const auto at = [&](int rank, OpId op) {
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].rank == rank && order[i].op == op) return i;
    }
    return order.size();
  };
  for (const int rank : {0, 1}) {
    EXPECT_LT(at(rank, a), at(1 - rank, sum)) << "nobody's collective ends before all have come";
    EXPECT_LT(at(rank, sum), at(rank, b));
  }
}

TEST(CheckGraph, NamesWhoWaitsInACircle) {
  Graph g = graph_of(2);
  const OpId sum = g.add(communication(g), all_reduce(g, 8_KiB));
  g.add(compute(g), marker("first", {sum}));
  const OpId second = g.add(compute(g), marker("second"));
  g[sum].after = {second};
  const sim::Status s = check(g);
  ASSERT_FALSE(s);
  EXPECT_EQ(s.error().kind, sim::Error::Kind::kDeadlock);
  EXPECT_EQ(why(s),
            "operations wait for each other, so that none can begin\n"
            "rank 0 compute: first waits for collective 0\n"
            "rank 0 communication: collective 0 waits for second\n"
            "rank 1 compute: first waits for collective 0\n"
            "rank 1 communication: collective 0 waits for second");
}

/// Two ranks with scripts of their own, and two communicators of both.
Graph two_scripts() {
  Graph g = graph_of(2);
  g.communicators.push_back({.name = "other", .groups = {{0, 1}}});
  g.scripts[0].streams[3] = {.name = "other", .kind = Stream::Kind::kCommunication, .communicator = 1};
  g.scripts.push_back(g.scripts.front());
  g.script_of = {0, 1};
  return g;
}

TEST(CheckGraph, SeesACircleOverSeveralRanks) {
  Graph g = two_scripts();
  const auto collective = [&](std::size_t script, CommunicatorId c, std::vector<OpId> after) {
    return g.add(
        g.scripts[script].streams[c == 0 ? 1 : 3],
        {.what = Collective{.communicator = c, .buffer = g.add(Buffer{8_KiB})}, .after = std::move(after)});
  };
  const OpId a = collective(0, 0, {});
  collective(0, 1, {a});
  const OpId b = collective(1, 1, {});
  const OpId c = collective(1, 0, {b});
  EXPECT_THAT(why(check(g)), testing::HasSubstr("rank 0 communication: collective 0 waits for other ranks"));
  g[c].after.clear();
  EXPECT_EQ(why(check(g)), "");
}

TEST(CheckGraph, RanksMeetInTheSameCollective) {
  Graph g = two_scripts();
  g.add(communication(g, 0), all_reduce(g, 8_KiB));
  g.add(communication(g, 1), all_reduce(g, 16_KiB));
  EXPECT_EQ(why(check(g)), "collective 1 of rank 1 meets collective 0 of rank 0 on communicator all");
}

TEST(CheckGraph, RefusesWhatIsNotThere) {
  Graph g = graph_of(2);
  const OpId m = g.add(compute(g), marker("m"));
  g[m].after = {7};
  EXPECT_EQ(why(check(g)), "m names an operation that there is not");
  g[m].after = {g.add(marker("elsewhere"))};
  EXPECT_EQ(why(check(g)), "m waits for elsewhere, which its rank does not run");
  g[m].after.clear();
  compute(g).ops.push_back(m);
  EXPECT_EQ(why(check(g)), "m stands in a script twice");
  compute(g).ops = {g.add(all_reduce(g, 8_KiB))};
  EXPECT_EQ(why(check(g)), "collective 2 cannot run in stream compute");
  compute(g).ops.clear();
  communication(g).ops = {2};
  g.communicators[0].groups = {{0}};
  EXPECT_EQ(why(check(g)), "rank 1 is no member of communicator all");
  g[2].what = Collective{.buffer = 9};
  EXPECT_EQ(why(check(g)), "collective 2 names a buffer that there is not");
  g.script_of.clear();
  EXPECT_EQ(why(check(g)), "a graph has at least one rank");
}

TEST(CheckGraph, CommunicationStandsInTheOrderOfItsMemory) {
  Graph g = graph_of(2);
  const OpId a = g.add(all_reduce(g, 8_KiB));
  const OpId b = g.add(all_reduce(g, 8_KiB));
  communication(g).ops = {b, a};
  EXPECT_EQ(why(check(g)), "collective 0 stands before its turn");
}

}  // namespace
}  // namespace infold::work
