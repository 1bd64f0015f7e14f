// The check of functional mode can fail: one wrong element is seen, and so is one that was never written.
#include "coll/values.h"

#include <cstring>
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
  const std::uint64_t elements = 160u * (collective == Collective::kReduceScatter ? 1 : 4);
  EXPECT_GE(v.wrong(), elements * 98 / 100) << "a few of floating point may be right by chance";
  if (type == DataType::kInt32) {
    EXPECT_EQ(v.wrong(), elements);
  }
}

TEST_P(EveryKind, ALostContributionIsSeen) {
  const auto [collective, type, op] = GetParam();
  if (collective != Collective::kAllReduce) return;
  const int ranks = 4;
  Values v(collective, size_of(type) * 400, ranks, type, op, 5);
  carry_out(v, collective, ranks);
  const auto out = v.output(1);
  std::memcpy(out.data(), v.input(0).data(), out.size());
  for (int from = 1; from < ranks - 1; ++from) fold(type, op, out, v.input(from));
  if (op == ReduceOp::kAvg) divide(type, out, ranks);
  const std::uint64_t least = op == ReduceOp::kMin || op == ReduceOp::kMax ? 60 : 200;
  EXPECT_GE(v.wrong(), least) << "of 400 elements";
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
