// Every interleaving of a few packets in a unit with two entries and two or three ports: no contribution is lost or
// counted twice, no place or credit is lost, and nothing waits for ever. Ranks may send in different orders.
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
  if (s.table_full != 0) EXPECT_GT(all->partials(), 0U) << name;
  std::cout << "  " << name << ": " << all->states() << " states, " << all->steps() << " steps, " << all->results() << " results, "
            << all->partials() << " partial sums, " << all->refused() << " times full\n";
}

constexpr const char* kPolicy[] = {"stall", "bypass", "evict"};

TEST(Exhaustive, TwoPortsTwoBlocksOneEntry) {
  for (const int policy : {0, 1, 2})
    search(std::string(kPolicy[policy]) + ", 2 ports, 2 blocks, 1 entry",
           {.ports = 2, .blocks = 2, .entries = 1, .table_full = policy, .patience = policy == 0 ? 12 : 1 << 30, .reminders = policy == 2});
}

}  // namespace
}  // namespace infold::rtl
