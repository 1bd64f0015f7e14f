// Every interleaving of a few packets in a unit with two entries and two or three ports: no contribution is
// lost or counted twice, no place or credit is lost, and nothing waits for ever. Ranks may send in different
// orders.
#include "exhaustive.h"

#include <gtest/gtest.h>

#include <iostream>

#include "VUnitTiny.h"

double sc_time_stamp() {
  return 0;
}

namespace infold::rtl {
namespace {

void search(const std::string& name, const Small& s, std::size_t most = 3'000'000) {
  auto all = std::make_unique<Exhaustive<VUnitTiny>>(s);
  EXPECT_EQ(all->search(most), "") << name;
  EXPECT_GT(all->results(), 0U) << name;
  if (s.table_full != 0 && s.entries < s.blocks) EXPECT_GT(all->partials(), 0U) << name;
  std::cout << "  " << name << ": " << all->states() << " states, " << all->steps() << " steps, "
            << all->results() << " results, " << all->partials() << " partial sums, " << all->refused()
            << " times full\n";
}

constexpr const char* kPolicy[] = {"stall", "bypass", "evict"};

/// All policies, with all ports fast and with slow ones.
void search_all(int ports, int blocks, int entries, const std::vector<int>& distances) {
  for (const int policy : {0, 1, 2}) {
    for (const unsigned slow : {0U, 1U, (1U << ports) - 1}) {
      const std::string name = std::string(kPolicy[policy]) + ", " + std::to_string(ports) + " ports, " +
                               std::to_string(blocks) + " blocks, entries: " + std::to_string(entries) +
                               ", slow ports: " + std::to_string(std::popcount(slow));
      search(name, {.ports = ports,
                    .blocks = blocks,
                    .entries = entries,
                    .table_full = policy,
                    .patience = policy == 0 ? 20 : 1 << 30,
                    .reminders = policy != 0,
                    .slow = slow,
                    .distances = distances});
    }
  }
}

TEST(Exhaustive, TwoPortsTwoBlocksOneEntry) {
  search_all(2, 2, 1, {0, 3, 14});
}
// What waits can fill the input buffer here, with what would make room behind it: patience has to end that.
TEST(Exhaustive, TwoPortsThreeBlocksOneEntry) {
  search_all(2, 3, 1, {0});
}
TEST(Exhaustive, TwoPortsThreeBlocksTwoEntries) {
  search_all(2, 3, 2, {0});
  search_all(2, 3, 2, {5});
}
TEST(Exhaustive, ThreePortsTwoBlocksOneOrTwoEntries) {
  search_all(3, 2, 1, {0});
  search_all(3, 2, 2, {0});
}
// Takes minutes: ctest -C full -L full.
TEST(Exhaustive, DISABLED_MoreDistances) {
  search_all(2, 2, 1, {0, 1, 2, 3, 4, 6, 9, 14});
  search_all(2, 3, 2, {0, 14});
  search_all(3, 2, 1, {0, 14});
}

}  // namespace
}  // namespace infold::rtl
