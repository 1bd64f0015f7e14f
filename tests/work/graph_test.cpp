// Graphs as values.
#include "work/graph.h"

#include "graph_help.h"

namespace infold::work {
namespace {

using namespace help;

TEST(WithoutCommunication, CollectivesAndWhatTheyBringDoNotRun) {
  Graph g = graph_of(2);
  const TensorId t = g.add(TensorSpec{});
  const OpId made = g.add(compute(g), timed(1_us));
  const OpId in = g.add(compute(g), {.what = Copy{.tensor = t}});
  const OpId when = g.add(compute(g), marker());
  const OpId end = g.add(compute(g), marker("end"));
  const OpId sum = g.add(communication(g), all_reduce(g, 8_KiB, {when}));
  const OpId back = g.add(compute(g), {.what = Copy{.tensor = t, .back = true}, .after = {sum}});
  const OpId packed =
      g.add(copies(g), {.what = Copy{.tensor = t, .for_communication = true}, .after = {made}});
  const OpId last = g.add(compute(g), timed(1_us, {sum, packed, end}));
  const Graph alone = without_communication(g);
  EXPECT_EQ(alone.scripts[0].streams[0].ops, (std::vector{made, in, end, last}));
  EXPECT_TRUE(alone.scripts[0].streams[1].ops.empty());
  EXPECT_TRUE(alone.scripts[0].streams[2].ops.empty());
  EXPECT_EQ(alone[last].after, (std::vector{end}));
  EXPECT_EQ(alone.scripts[0].idle, (std::vector{when, back, sum, packed})) << "they have memory all the same";
}

TEST(Label, IsTheNameOrTheKindAndNumber) {
  Graph g = graph_of(1);
  EXPECT_EQ(label(g, g.add(marker("end"))), "end");
  EXPECT_EQ(label(g, g.add(marker())), "marker 1");
}

}  // namespace
}  // namespace infold::work
