// The small parts on their own: tags, the index, waves, trees.
#include <array>
#include <map>

#include "inc/reduction_table.h"
#include "world_help.h"

namespace infold::inc {
namespace {

TEST(Tags, AreReadAsTheyWereWritten) {
  for (const Tag t : {Tag{0, 0, 1}, Tag{4095, 1023, 1024}, Tag{17, 5, 300}}) {
    const Tag r = Tag::of(t.flow());
    EXPECT_EQ(r.region, t.region);
    EXPECT_EQ(r.first, t.first);
    EXPECT_EQ(r.count, t.count);
  }
}

TEST(KeyIndex, FindsWhatWasAddedAndNotWhatWasRemoved) {
  sim::Random random(3);
  KeyIndex index;
  std::map<Key, std::uint32_t> expected;
  for (int i = 0; i < 20'000; ++i) {
    const Key key = random.below(300);
    const auto there = expected.find(key);
    ASSERT_EQ(index.find(key), there == expected.end() ? KeyIndex::kNone : there->second);
    if (there == expected.end()) {
      index.add(key, static_cast<std::uint32_t>(i));
      expected[key] = static_cast<std::uint32_t>(i);
    } else {
      index.remove(key);
      expected.erase(there);
    }
    ASSERT_EQ(index.size(), expected.size());
  }
}

/// Each part may have an entry even where its share is less than one, but a port has no more than it has room
/// for.
TEST(ReductionTable, HoldsNoMoreThanItHasRoomForWhoeverAsks) {
  ReductionTable table(1, 2);
  std::array<Region, 3> regions;
  for (std::uint32_t i = 0; i < regions.size(); ++i) regions[i].partition = i;
  constexpr std::uint32_t kQuota = 1;
  table.add(100, 0, regions[0]);
  EXPECT_FALSE(table.room(0, regions[0], kQuota)) << "its part is full";
  EXPECT_TRUE(table.room(0, regions[1], kQuota));
  table.add(200, 0, regions[1]);
  EXPECT_FALSE(table.room(0, regions[2], kQuota)) << "nothing is left";
  EXPECT_EQ(table.used(0), 2U);
  table.remove(table.find(100));
  EXPECT_TRUE(table.room(0, regions[2], kQuota));
  EXPECT_EQ(table.peak(0), 2U);
}

TEST(ReductionTable, EvictsTheOldestPartialSumOfAPart) {
  ReductionTable table(1, 8);
  std::array<Region, 2> regions;
  regions[1].partition = 1;
  const auto add = [&](Key key, const Region& region, bool push, bool complete) {
    const EntryId id = table.add(key, 0, region);
    table[id].push = push;
    table[id].complete = complete;
    return id;
  };
  EXPECT_EQ(table.oldest_partial(0, false, 0), kNoEntry);
  add(1, regions[0], true, true);
  add(2, regions[0], false, false);
  const EntryId other_part = add(3, regions[1], true, false);
  const EntryId oldest = add(4, regions[0], true, false);
  const EntryId youngest = add(5, regions[0], true, false);
  EXPECT_EQ(table.oldest_partial(0, false, 0), other_part) << "neither a complete sum nor one asked for";
  EXPECT_EQ(table.oldest_partial(0, true, 0), oldest);
  table.remove(oldest);
  EXPECT_EQ(table.oldest_partial(0, true, 0), youngest);
}

TEST(Waves, OpenAsResultsComplete) {
  Waves waves(1'000_B, 300_B, 2);
  EXPECT_EQ(waves.may_send(), 600_B);
  waves.result(300, 300_B);
  EXPECT_EQ(waves.may_send(), 600_B) << "the first wave is not complete";
  waves.result(0, 200_B);
  waves.result(200, 100_B);
  EXPECT_EQ(waves.may_send(), 1'000_B) << "two waves at once";
  EXPECT_FALSE(waves.done());
  waves.result(600, 300_B);
  waves.result(900, 100_B);
  EXPECT_TRUE(waves.done());
}

TEST(Waves, NoWavesMeansEverythingAtOnce) {
  EXPECT_EQ(Waves(1'000_B, 0_B, 1).may_send(), 1'000_B);
}

std::optional<Tree> grown(const World& world, const std::vector<net::NodeId>& members, std::uint16_t way) {
  return Tree::grow(world.map.gpus(), world.grower(), members, way);
}

TEST(Trees, OfASwitchPlaneAreOneSwitch) {
  World world(IncSpec{}, klenk(), 16);
  for (std::uint16_t way = 0; way < 6; ++way) {
    const auto tree = grown(world, first_gpus(16), way);
    ASSERT_TRUE(tree);
    EXPECT_EQ(tree->root(), 16 + way);
    EXPECT_EQ(tree->nodes().size(), 1u);
    EXPECT_EQ(tree->at(tree->root()).children.size(), 16u);
  }
}

TEST(Trees, OfAFatTreeMeetInASpineAndOfOneGroupInALeaf) {
  World world(IncSpec{}, fat_tree(4, 2, 4), 8);
  const auto tree = grown(world, first_gpus(8), 3);
  ASSERT_TRUE(tree);
  EXPECT_EQ(tree->nodes().size(), 5u) << "a leaf in each of four groups, and a spine";
  const TreeNode& root = tree->at(tree->root());
  EXPECT_EQ(root.parent, net::kNoLink);
  EXPECT_EQ(root.members, 8);
  ASSERT_EQ(root.children.size(), 4u);
  for (const TreeNode::Child& c : root.children) {
    EXPECT_EQ(world.map.to(c.out), c.node);
    EXPECT_EQ(world.map.to(tree->at(c.node).parent), root.chip);
    EXPECT_EQ(c.members, 2);
  }
  EXPECT_EQ(grown(world, {2, 3}, 3)->nodes().size(), 1u);
}

TEST(Homes, AreSpreadEvenlyOverTheRanks) {
  World world(IncSpec{}, one_switch(), 4);
  RegionPlan plan;
  plan.members = first_gpus(4);
  plan.bytes = sim::Bytes{10 * 128};
  const RegionId id = world.units.regions().add(plan).value();
  std::vector<int> homes;
  for (std::uint32_t b = 0; b < 10; ++b) homes.push_back(world.units.regions()[id].home_rank(b * 128));
  EXPECT_EQ(homes, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3}));
}

}  // namespace
}  // namespace infold::inc
