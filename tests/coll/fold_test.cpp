// Programs in which few ranks stand for all.
#include "coll/program/fold.h"

#include <rapidcheck/gtest.h>

#include <map>

#include "program_help.h"

namespace infold::coll {
namespace {

Program ring_of(int ranks, sim::Bytes bytes, const Tuning& tuning, Collective c = Collective::kAllReduce) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
  return compiled(*find_algorithm("ring"), c, bytes, ranks, fabric, tuning);
}
Tuning even_tuning(int channels) {
  Tuning t = small_tuning(channels);
  t.chunk_grain = sim::Bytes{kVector};
  return t;
}

/// What each connection carries, in order: (from, to, channel) to the bytes of its steps.
using Carried = std::map<std::array<int, 3>, std::vector<std::int64_t>>;
void gather(const Program& p, Carried& sent, Carried& received) {
  for (int rank = 0; rank < p.ranks; ++rank) {
    for (int channel = 0; channel < p.channels; ++channel) {
      for (const Step& s : p.steps(rank, channel)) {
        for (const int to : s.to) sent[{rank, to, channel}].push_back(s.bytes.count());
        for (const int from : s.from) received[{from, rank, channel}].push_back(s.bytes.count());
      }
    }
  }
}

RC_GTEST_PROP(FoldProperty, WhatStandInsSendEachOtherIsWhatTheyReceive, ()) {
  const int stand_ins = *rc::gen::inRange(2, 5);
  const int ranks = stand_ins * *rc::gen::inRange(1, 5);
  const sim::Bytes bytes{*rc::gen::inRange(ranks * 100, 100'000) * 4};
  const Program whole = ring_of(ranks, bytes, even_tuning(*rc::gen::inRange(1, 4)));
  const auto few = folded(whole, stand_ins);
  // The rest of a message may be too little for every rank to have some of it.
  if (!few) return;
  RC_ASSERT(few->ranks == stand_ins);
  Carried sent;
  Carried received;
  gather(*few, sent, received);
  RC_ASSERT(sent == received);
  for (const auto& [who, list] : sent) RC_ASSERT(who[0] != who[1]);
  // All of the bytes, but for rounding to whole vectors in each step.
  std::int64_t steps = 0;
  for (const auto& list : few->lists) {
    steps += static_cast<std::int64_t>(list.size());
    for (const Step& s : list) {
      RC_ASSERT(s.input_offset + s.bytes <= bytes);
      RC_ASSERT(s.output_offset + s.bytes <= bytes);
    }
  }
  const std::int64_t share = bytes_sent(whole) * stand_ins / ranks;
  RC_ASSERT(bytes_sent(*few) >= share);
  RC_ASSERT(bytes_sent(*few) <= share + (steps + 1) * kVector);
}

TEST(Fold, LeavesAProgramOfAsManyRanksAsItIs) {
  const Program whole = ring_of(4, 64_KiB, even_tuning(2));
  const auto same = folded(whole, 4);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->lists, whole.lists);
}

TEST(Fold, MostSizesCanBeFolded) {
  int can = 0;
  for (std::int64_t kib = 64; kib < 128; ++kib)
    can += int{folded(ring_of(8, sim::Bytes::kib(kib), even_tuning(2)), 4).has_value()};
  EXPECT_GT(can, 60);
}

TEST(Fold, NotWhereRanksDoDifferentThings) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, 8);
  for (const char* name : {"tree", "ccube", "halving-doubling"}) {
    const Program p =
        compiled(*find_algorithm(name), Collective::kAllReduce, 64_KiB, 8, fabric, even_tuning(2));
    EXPECT_FALSE(folded(p, 4)) << name;
  }
  EXPECT_FALSE(folded(ring_of(8, 64_KiB, even_tuning(2), Collective::kBroadcast), 4)) << "there is a root";
}

TEST(Fold, NotWhereSomebodyWouldSendToHimself) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, 8);
  const Program all =
      compiled(*find_algorithm("two-shot"), Collective::kAllReduce, 64_KiB, 8, fabric, even_tuning(2));
  EXPECT_FALSE(folded(all, 4));
  EXPECT_FALSE(folded(ring_of(8, 64_KiB, even_tuning(2)), 1));
}

TEST(Fold, NotIntoRanksThatDoNotDivideAll) {
  EXPECT_FALSE(folded(ring_of(8, 64_KiB, even_tuning(2)), 3));
}

}  // namespace
}  // namespace infold::coll
