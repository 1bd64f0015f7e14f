// The check of functional mode can fail: one wrong element is seen, and so is one that was never written.
#include "coll/program/values.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <tuple>

namespace infold::coll {
namespace {

using namespace sim::literals;

/// Does what the collective should, in rank order.
void carry_out(Values& v, Collective collective, int ranks) {
  const DataType t = v.type();
  for (int rank = 0; rank < ranks; ++rank) {
    const auto out = v.output(rank);
    if (collective == Collective::kAllGather) {
      for (int from = 0; from < ranks; ++from) {
        const auto in = v.input(from);
        std::memcpy(out.data() + static_cast<std::size_t>(from) * in.size(), in.data(), in.size());
      }
      continue;
    }
    const std::size_t at =
        collective == Collective::kReduceScatter ? static_cast<std::size_t>(rank) * out.size() : 0;
    std::memcpy(out.data(), v.input(0).data() + at, out.size());
    for (int from = 1; from < ranks; ++from) fold(t, v.op(), out, v.input(from).subspan(at, out.size()));
    if (v.op() == ReduceOp::kAvg) divide(t, out, ranks);
  }
}

class EveryKind : public testing::TestWithParam<std::tuple<Collective, DataType, ReduceOp>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind,
                         testing::Combine(testing::Values(Collective::kAllReduce, Collective::kReduceScatter,
                                                          Collective::kAllGather),
                                          testing::Values(DataType::kFp32, DataType::kFp16, DataType::kBf16,
                                                          DataType::kInt32),
                                          testing::Values(ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kMin,
                                                          ReduceOp::kMax, ReduceOp::kAvg)),
                         [](const auto& tested) {
                           return std::string(sim::name_of(std::get<0>(tested.param))) + "_" +
                                  std::string(sim::name_of(std::get<1>(tested.param))) + "_" +
                                  std::string(sim::name_of(std::get<2>(tested.param)));
                         });

TEST_P(EveryKind, TheRightAnswerIsRight) {
  const auto [collective, type, op] = GetParam();
  for (int ranks : {1, 2, 3, 8, 16}) {
    Values v(collective, size_of(type) * 16 * 3 * ranks, ranks, type, op, 5);
    carry_out(v, collective, ranks);
    EXPECT_EQ(v.wrong(), 0u) << ranks;
  }
}

TEST_P(EveryKind, OneWrongElementIsSeen) {
  const auto [collective, type, op] = GetParam();
  const int ranks = 4;
  Values v(collective, size_of(type) * 160, ranks, type, op, 5);
  carry_out(v, collective, ranks);
  const double was = load(type, v.output(2), 7);
  store(type, v.output(2), 7, was + 3);
  EXPECT_EQ(v.wrong(), 1u);
  store(type, v.output(2), 7, was);
  EXPECT_EQ(v.wrong(), 0u);
}

TEST_P(EveryKind, WhatWasNeverWrittenIsSeen) {
  const auto [collective, type, op] = GetParam();
  const int ranks = 4;
  const Values v(collective, size_of(type) * 160, ranks, type, op, 5);
  EXPECT_EQ(v.wrong(), 160u * (collective == Collective::kReduceScatter ? 1 : 4));
}

constexpr std::uint64_t kElements = 40;

/// All ranks get the reduction of the contributions listed. Returns how many elements of a rank are wrong.
std::uint64_t wrong_with(DataType type, ReduceOp op, int ranks, const std::vector<int>& contributions) {
  Values v(Collective::kAllReduce, size_of(type) * kElements, ranks, type, op, 5);
  const auto first = v.output(0);
  std::memcpy(first.data(), v.input(contributions[0]).data(), first.size());
  for (std::size_t i = 1; i < contributions.size(); ++i) fold(type, op, first, v.input(contributions[i]));
  if (op == ReduceOp::kAvg) divide(type, first, ranks);
  for (int rank = 1; rank < ranks; ++rank) std::memcpy(v.output(rank).data(), first.data(), first.size());
  return v.wrong() / static_cast<std::uint64_t>(ranks);
}

std::vector<int> everybody(int ranks) {
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

class EveryReduction : public testing::TestWithParam<std::tuple<DataType, ReduceOp, int>> {};
INSTANTIATE_TEST_SUITE_P(Kinds, EveryReduction,
                         testing::Combine(testing::Values(DataType::kFp32, DataType::kFp16, DataType::kBf16,
                                                          DataType::kInt32),
                                          testing::Values(ReduceOp::kSum, ReduceOp::kProd, ReduceOp::kAvg),
                                          testing::Values(2, 3, 16, 72, 120)),
                         [](const auto& tested) {
                           return std::string(sim::name_of(std::get<0>(tested.param))) + "_" +
                                  std::string(sim::name_of(std::get<1>(tested.param))) + "_" +
                                  std::to_string(std::get<2>(tested.param));
                         });

TEST_P(EveryReduction, IsRightInAnyOrder) {
  const auto [type, op, ranks] = GetParam();
  std::vector<int> order = everybody(ranks);
  EXPECT_EQ(wrong_with(type, op, ranks, order), 0u);
  std::reverse(order.begin(), order.end());
  EXPECT_EQ(wrong_with(type, op, ranks, order), 0u);
  std::rotate(order.begin(), order.begin() + ranks / 2, order.end());
  EXPECT_EQ(wrong_with(type, op, ranks, order), 0u);
}

// An average may round the difference away in a few elements, nothing else may.
TEST_P(EveryReduction, SeesALostContributionInEveryElement) {
  const auto [type, op, ranks] = GetParam();
  std::vector<int> order = everybody(ranks);
  order.erase(order.begin() + ranks / 2);
  const std::uint64_t wrong = wrong_with(type, op, ranks, order);
  EXPECT_GE(wrong, op == ReduceOp::kAvg ? kElements / 3 : kElements);
}

TEST_P(EveryReduction, SeesADoubledContributionInEveryElement) {
  const auto [type, op, ranks] = GetParam();
  std::vector<int> order = everybody(ranks);
  order.push_back(ranks / 2);
  const std::uint64_t wrong = wrong_with(type, op, ranks, order);
  EXPECT_GE(wrong, op == ReduceOp::kAvg ? kElements / 3 : kElements);
}

TEST(Values, BeyondWhatATypeCanCountTheCheckAllowsForRounding) {
  EXPECT_EQ(wrong_with(DataType::kBf16, ReduceOp::kSum, 300, everybody(300)), 0u);
  EXPECT_EQ(wrong_with(DataType::kBf16, ReduceOp::kAvg, 300, everybody(300)), 0u);
}

TEST(Values, InputsOfTheRanksDifferAndDependOnTheSeed) {
  const auto inputs = [](std::uint64_t seed) {
    Values v(Collective::kAllReduce, 400_B, 2, DataType::kInt32, ReduceOp::kSum, seed);
    std::vector<std::vector<double>> out(2);
    for (int rank : {0, 1}) {
      for (std::size_t i = 0; i < 100; ++i)
        out[static_cast<std::size_t>(rank)].push_back(load(v.type(), v.input(rank), i));
    }
    return out;
  };
  EXPECT_NE(inputs(1)[0], inputs(1)[1]);
  EXPECT_EQ(inputs(1), inputs(1));
  EXPECT_NE(inputs(1), inputs(2));
}

TEST(Values, NeedsMemoryForBothVectorsOfEveryRankAndAsMuchInFlight) {
  EXPECT_EQ(Values::memory_need(Collective::kAllReduce, 1_KiB, 8), 2 * 8 * 2'048);
  EXPECT_EQ(Values::memory_need(Collective::kAllGather, 1_KiB, 8), 2 * 8 * (1'024 + 128));
}

}  // namespace
}  // namespace infold::coll
