// What links are made of: buffers that keep the order, and turns that nobody is left out of.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <set>

#include "net/packet/round_robin.h"
#include "sim/ring_buffer.h"

namespace infold::net {
namespace {

RC_GTEST_PROP(RingBuffer, IsAQueue, (const std::vector<std::uint8_t>& what)) {
  sim::RingBuffer<int> ring;
  std::deque<int> queue;
  int next = 0;
  for (const std::uint8_t w : what) {
    if (w % 3 == 0 && !queue.empty()) {
      ring.pop();
      queue.pop_front();
    } else {
      ring.push(next);
      queue.push_back(next++);
    }
    RC_ASSERT(ring.size() == queue.size());
    RC_ASSERT(ring.empty() == queue.empty());
    if (queue.empty()) continue;
    RC_ASSERT(ring.front() == queue.front());
    RC_ASSERT(ring.back() == queue.back());
    for (std::uint32_t i = 0; i < ring.size(); ++i) RC_ASSERT(ring[i] == queue[i]);
  }
}

/// The first that waits and is ready, from `turn` on and once round.
std::uint32_t expected(const std::set<std::uint32_t>& waiting, std::uint32_t turn, std::uint32_t odd) {
  const auto ready = [&](std::uint32_t i) { return i % 2 == odd; };
  for (auto at = waiting.lower_bound(turn); at != waiting.end(); ++at)
    if (ready(*at)) return *at;
  for (auto at = waiting.begin(); at != waiting.lower_bound(turn); ++at)
    if (ready(*at)) return *at;
  return RoundRobin::kNone;
}

RC_GTEST_PROP(RoundRobin, ServesInTurn, (const std::vector<std::uint16_t>& what)) {
  for (const std::uint32_t inputs : {1U, 2U, 63U, 64U, 65U, 128U, 129U, 300U}) {
    RoundRobin turns(static_cast<int>(inputs));
    std::set<std::uint32_t> waiting;
    std::uint32_t turn = 0;
    for (const std::uint16_t w : what) {
      const std::uint32_t input = w % inputs;
      RC_ASSERT(turns.has(input) == waiting.contains(input));
      if (waiting.contains(input)) {
        turns.remove(input);
        waiting.erase(input);
      } else {
        turns.add(input);
        waiting.insert(input);
      }
      RC_ASSERT(turns.any() == !waiting.empty());
      for (const std::uint32_t odd : {0U, 1U}) {
        const std::uint32_t found = turns.find([&](std::uint32_t i) { return i % 2 == odd; });
        RC_ASSERT(found == expected(waiting, turn, odd));
        if (found != RoundRobin::kNone && w % 5 == 0) {
          turns.served(found);
          turn = found + 1;
        }
      }
    }
  }
}

}  // namespace
}  // namespace infold::net
