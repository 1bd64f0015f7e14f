// Layouts: who works with whom.
#include "train/layout.h"

#include <gtest/gtest.h>

#include <set>

namespace infold::train {
namespace {

using Groups = std::vector<std::vector<int>>;

TEST(Layout, TensorParallelRanksLieNextToEachOther) {
  const Layout l{.dp = 2, .tp = 2, .pp = 2};
  EXPECT_EQ(groups_of(l, Axis::kTensor), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(groups_of(l, Axis::kReplica), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups_of(l, Axis::kPipeline), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(groups_of(l, Axis::kContext), Groups{});
}

TEST(Layout, ExpertsAreDividedAmongDataParallelRanks) {
  const Layout l{.dp = 4, .tp = 2, .ep = 2};
  EXPECT_EQ(groups_of(l, Axis::kExpert), (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(groups_of(l, Axis::kExpertReplica), (Groups{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
}

TEST(Layout, ReplicasSpanTheContext) {
  const Layout l{.dp = 2, .cp = 2};
  EXPECT_EQ(groups_of(l, Axis::kReplica), (Groups{{0, 1, 2, 3}}));
  EXPECT_EQ(groups_of(l, Axis::kContext), (Groups{{0, 1}, {2, 3}}));
}

TEST(Layout, EveryAxisDividesTheRanksIntoGroupsOfItsSize) {
  for (const Layout& l : {Layout{.dp = 4, .tp = 2, .pp = 3, .ep = 2, .cp = 2},
                          Layout{.dp = 6, .tp = 1, .pp = 2, .ep = 3, .cp = 4}}) {
    for (const auto& axis : kAxisNames) {
      std::set<int> seen;
      for (const auto& group : groups_of(l, axis.value)) {
        EXPECT_EQ(group.size(), static_cast<std::size_t>(size_of(l, axis.value)));
        seen.insert(group.begin(), group.end());
      }
      EXPECT_EQ(seen.size(), size_of(l, axis.value) == 1 ? 0U : static_cast<std::size_t>(l.ranks()));
    }
  }
}

TEST(Layout, DataParallelRanksAreWhatIsLeft) {
  EXPECT_EQ(fill({.dp = 0, .tp = 2, .pp = 2}, 16)->dp, 4);
  EXPECT_FALSE(fill({.dp = 0, .tp = 3}, 8));
  EXPECT_FALSE(fill({.dp = 3, .tp = 2}, 8));
  EXPECT_FALSE(fill({.dp = 4, .tp = 2, .ep = 3}, 8));
}

}  // namespace
}  // namespace infold::train
