// Every algorithm's programs, carried out on symbols: right for every collective it offers, rank count, size,
// fabric and tuning, and with the finite buffers they will have.
#include "coll/algo/algorithms.h"

#include <algorithm>

#include <fmt/format.h>

#include "program_help.h"
#include "sim/random.h"

namespace infold::coll {
namespace {

struct Offer {
  const Algorithm* algorithm;
  Collective collective;
};
std::vector<Offer> every_offer() {
  std::vector<Offer> all;
  for (const Algorithm& a : algorithms()) {
    for (Collective c : a.collectives) all.push_back({&a, c});
  }
  return all;
}
void PrintTo(const Offer& offer, std::ostream* out) {
  *out << offer.algorithm->name << " " << sim::name_of(offer.collective);
}

class EveryAlgorithm : public testing::TestWithParam<Offer> {
 protected:
  Program make(sim::Bytes bytes, int ranks, const net::Blueprint& fabric, const Tuning& t, int root = 0) {
    return compiled(*GetParam().algorithm, GetParam().collective, bytes, ranks, fabric, t, root);
  }
  void expect_right(std::int64_t elements, std::int64_t size, int ranks, const net::Blueprint& fabric,
                    const Tuning& t) {
    std::vector<int> roots{0};
    if (has_root(GetParam().collective) && ranks > 1) roots = {1, ranks - 1};
    for (int root : roots) {
      const Program p = make(size_for(GetParam().collective, elements, size, ranks), ranks, fabric, t, root);
      EXPECT_EQ(flaw_of(p), "") << elements << " elements of " << size << " on " << ranks << " ranks, root "
                                << root;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Offers, EveryAlgorithm, testing::ValuesIn(every_offer()), [](const auto& tested) {
  std::string name =
      fmt::format("{}_{}", tested.param.algorithm->name, sim::name_of(tested.param.collective));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryAlgorithm, IsRightForEveryRankCountAndOddSizes) {
  for (int ranks = 1; ranks <= 17; ++ranks) {
    const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
    for (std::int64_t elements : {0, 1, 2, 3, 5, 13, 17, 100, 1'001, 9'999}) {
      for (std::int64_t size : {2, 4}) {
        expect_right(elements, size, ranks, fabric, small_tuning(1 + ranks % 3));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(EveryAlgorithm, IsRightOnEveryFabricAndPartsOfIt) {
  const std::vector<net::Blueprint> fabrics = {
      fabric_of(net::Topology::kFullMesh, 5),
      fabric_of(net::Topology::kCubeMesh, 8),
      fabric_of(net::Topology::kRing, 7),
      fabric_of(net::Topology::kTorus, 12, {3, 4}),
      fabric_of(net::Topology::kTorus, 8, {2, 2, 2}),
      fabric_of(net::Topology::kPcieTree, 8, {}, 2),
      fabric_of(net::Topology::kFatTree, 12, {}, 3),
  };
  for (const auto& fabric : fabrics) {
    for (int channels : {1, 2, 5, 12}) {
      for (int ranks = 2; ranks <= fabric.gpus; ++ranks) {
        expect_right(2'520, 4, ranks, fabric, small_tuning(channels));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(EveryAlgorithm, IsRightWithAnyTuning) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::Random random(sim::mix(seed));
    const int ranks = 2 + static_cast<int>(random.below(15));
    const Tuning t = random_tuning(random);
    expect_right(static_cast<std::int64_t>(random.below(30'000)), 2, ranks,
                 fabric_of(net::Topology::kSwitchPlanes, ranks), t);
  }
}

TEST_P(EveryAlgorithm, NoStepIsLargerThanAChunkOfItsProgram) {
  if (GetParam().algorithm->in_network) return;  // engines and switches cut data into packets, not chunks
  const Program p = make(size_for(GetParam().collective, 100'000, 4, 6), 6,
                         fabric_of(net::Topology::kSwitchPlanes, 6), small_tuning(2));
  for (const auto& list : p.lists) {
    for (const Step& s : list) EXPECT_LE(s.bytes, max_chunk(p.tuning));
  }
}

TEST_P(EveryAlgorithm, HasNoMoreStepsThanForetold) {
  for (int ranks : {2, 3, 8, 33, 64}) {
    const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
    std::vector<int> gpus(static_cast<std::size_t>(ranks));
    for (std::int64_t elements : {1, 1'000, 200'000}) {
      const sim::Bytes bytes = size_for(GetParam().collective, elements, 4, ranks);
      const Program p = make(bytes, ranks, fabric, small_tuning(3));
      std::int64_t steps = 0;
      for (const auto& list : p.lists) steps += static_cast<std::int64_t>(list.size());
      EXPECT_LE(steps, most_steps(*GetParam().algorithm, {.collective = GetParam().collective,
                                                          .bytes = bytes,
                                                          .gpus = gpus,
                                                          .fabric = &fabric,
                                                          .tuning = small_tuning(3)}));
    }
  }
}

TEST_P(EveryAlgorithm, ManyRanksGetAShortProgramForASmallMessage) {
  const Program p = make(size_for(GetParam().collective, 1'280, 4, 128), 128,
                         fabric_of(net::Topology::kSwitchPlanes, 128), Tuning{});
  EXPECT_EQ(flaw_of(p), "");
}

TEST_P(EveryAlgorithm, WritesNoFurtherListWhenAskedToStop) {
  if (GetParam().algorithm->in_network) return;  // a list of theirs has a few steps
  constexpr int kLists = 3;
  int asked = 0;
  const sim::GoOn go_on = [&asked] { return ++asked <= kLists; };
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, 8);
  const std::vector<int> gpus{0, 1, 2, 3, 4, 5, 6, 7};
  const Program p = compile(*GetParam().algorithm, {.collective = GetParam().collective,
                                                    .bytes = 64_KiB,
                                                    .gpus = gpus,
                                                    .fabric = &fabric,
                                                    .tuning = small_tuning(2),
                                                    .go_on = &go_on});
  EXPECT_GT(asked, kLists);
  EXPECT_LE(std::ranges::count_if(p.lists, [](const auto& list) { return !list.empty(); }), kLists);
}

TEST(Algorithms, AreFoundByNameAndSayWhatTheyOffer) {
  ASSERT_NE(find_algorithm("tree"), nullptr);
  EXPECT_EQ(find_algorithm("three"), nullptr);
  EXPECT_TRUE(find_algorithm("tree")->offers(Collective::kBroadcast));
  EXPECT_FALSE(find_algorithm("tree")->offers(Collective::kAllGather));
  EXPECT_EQ(offered_by(*find_algorithm("tree")), "all_reduce, broadcast, reduce, barrier");
  EXPECT_EQ(who_offers(Collective::kAllToAll), "direct");
}

}  // namespace
}  // namespace infold::coll
