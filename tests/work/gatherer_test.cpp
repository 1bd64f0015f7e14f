// What a gathering reduces together, and when.
#include "work/gatherer.h"

#include "graph_help.h"

namespace infold::work {
namespace {

using namespace help;
using Groups = std::vector<std::vector<int>>;

Gather gather(std::initializer_list<int> mib, sim::Time cycle) {
  Gather g{.cycle = cycle, .most = 64_MiB};
  for (const int m : mib) g.parts.push_back({.when = 0, .bytes = sim::Bytes::mib(m)});
  return g;
}
Groups parts(const std::vector<Gathered>& all) {
  Groups out;
  for (const Gathered& g : all) out.push_back(g.parts);
  return out;
}

TEST(Gatherer, LooksAtTicksOfItsCycle) {
  const Gather g = gather({1, 2}, 2500_us);
  Gatherer gatherer(g);
  EXPECT_EQ(gatherer.wants_waking(), std::nullopt);
  gatherer.arrived(1, 1000_us);
  EXPECT_EQ(gatherer.wants_waking(), 2500_us);
  gatherer.arrived(0, 2000_us);
  EXPECT_EQ(gatherer.wants_waking(), 2500_us);
  EXPECT_EQ(parts(gatherer.wake()), (Groups{{1, 0}})) << "in the order in which they came";
  EXPECT_EQ(gatherer.wants_waking(), std::nullopt);
  EXPECT_TRUE(gatherer.wake().empty());
}

TEST(Gatherer, ATickThatIsNowIsNotOver) {
  const Gather g = gather({1}, 100_us);
  Gatherer gatherer(g);
  gatherer.arrived(0, 200_us);
  EXPECT_EQ(gatherer.wants_waking(), 200_us);
}

TEST(Gatherer, AFullBufferGoesAndTheRestFollowsAtOnce) {
  const Gather g = gather({40, 30, 30, 5, 100}, 10'000_us);
  Gatherer gatherer(g);
  for (const int p : {3, 2, 1, 0, 4}) gatherer.arrived(p, 1_us);
  const auto out = gatherer.wake();
  EXPECT_EQ(parts(out), (Groups{{3, 2}, {1}, {0}, {4}})) << "one that is too large goes by itself";
  EXPECT_EQ(out[0].bytes, 35_MiB);
  EXPECT_EQ(out[3].bytes, 100_MiB);
}

}  // namespace
}  // namespace infold::work
