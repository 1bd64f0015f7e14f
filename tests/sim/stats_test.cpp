// Statistics: a registry shows what the counters hold when it is asked.
#include "sim/stats.h"

namespace infold::sim {
namespace {

using Snapshot = std::vector<std::pair<std::string, std::uint64_t>>;

TEST(Stats, ShowsTheCountersOfTheMomentInOrderOfRegistration) {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  StatRegistry registry;
  registry.add("packets", packets);
  registry.add("bytes", bytes);
  EXPECT_EQ(registry.snapshot(), (Snapshot{{"packets", 0}, {"bytes", 0}}));
  packets = 3;
  bytes = 384;
  EXPECT_EQ(registry.snapshot(), (Snapshot{{"packets", 3}, {"bytes", 384}}));
}

TEST(Stats, AnEmptyRegistryHasNothingToShow) {
  EXPECT_TRUE(StatRegistry().snapshot().empty());
}

}  // namespace
}  // namespace infold::sim
