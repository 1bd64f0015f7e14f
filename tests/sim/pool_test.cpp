// What a pool promises: numbers are used again, memory is kept, and nothing is given back twice.
#include "sim/pool.h"

#include <rapidcheck.h>

#include <set>
#include <string>

#include "sim/allocation_counter.h"

namespace infold::sim {
namespace {

TEST(Pool, WhatWasGivenBackLastIsTakenFirst) {
  Pool<int> pool;
  EXPECT_EQ(pool.take(10), 0u);
  EXPECT_EQ(pool.take(11), 1u);
  EXPECT_EQ(pool.take(12), 2u);
  pool.give_back(2);
  pool.give_back(0);
  EXPECT_EQ(pool.used(), 1u);
  EXPECT_EQ(pool.take(), 0u);
  EXPECT_EQ(pool.take(), 2u);
  EXPECT_EQ(pool.take(), 3u) << "nothing is left, so it grows";
  EXPECT_EQ(pool[1], 11);
}

TEST(Pool, AValueKeepsItsMemory) {
  Pool<std::vector<int>> pool;
  const auto id = pool.take();
  pool[id].assign(1'000, 7);
  const int* memory = pool[id].data();
  pool[id].clear();
  pool.give_back(id);
  ASSERT_EQ(pool.take(), id);
  pool[id].assign(1'000, 8);
  EXPECT_EQ(pool[id].data(), memory);
}

TEST(Pool, NarrowNumbersRunOut) {
  Pool<char, std::uint8_t> pool;
  for (int i = 0; i < 255; ++i) EXPECT_EQ(pool.take(), i);
  EXPECT_DEATH(pool.take(), "a pool has a number for each value");
}

TEST(StablePool, ValuesStayWhereTheyAre) {
  StablePool<std::string> pool;
  const std::string& first = pool[pool.take("first")];
  for (int i = 0; i < 1'000; ++i) pool.take("other");
  EXPECT_EQ(first, "first");
}

TEST(Pool, DoesNotAllocateInSteadyState) {
  Pool<std::uint64_t> pool;
  std::vector<std::uint32_t> ids(100);
  for (auto& id : ids) id = pool.take(1);
  for (const auto id : ids) pool.give_back(id);
  const std::uint64_t before = allocations();
  for (int round = 0; round < 10; ++round) {
    for (auto& id : ids) id = pool.take(2);
    for (const auto id : ids) pool.give_back(id);
  }
  EXPECT_EQ(allocations(), before);
}

TEST(PoolProperty, IsASetOfNumbersWithTheirValues) {
  const bool holds = rc::check([] {
    Pool<int> pool;
    std::vector<std::pair<std::uint32_t, int>> taken;
    for (const int step : *rc::gen::container<std::vector<int>>(rc::gen::inRange(-50, 100))) {
      if (step < 0 && !taken.empty()) {
        const auto at = static_cast<std::size_t>(-step) % taken.size();
        pool.give_back(taken[at].first);
        taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(at));
      } else {
        taken.emplace_back(pool.take(step), step);
      }
      RC_ASSERT(pool.used() == taken.size());
      std::set<std::uint32_t> ids;
      for (const auto& [id, value] : taken) {
        RC_ASSERT(ids.insert(id).second);
        RC_ASSERT(pool[id] == value);
      }
    }
  });
  EXPECT_TRUE(holds);
}

#ifndef NDEBUG
TEST(PoolDeath, NothingIsGivenBackTwiceOrUsedAfterwards) {
  Pool<int> pool;
  const auto id = pool.take(1);
  pool.give_back(id);
  EXPECT_DEATH(pool.give_back(id), "what is given back was taken, and once");
  EXPECT_DEATH(pool[id] = 2, "only what was taken is used");
}
#endif

}  // namespace
}  // namespace infold::sim
