// The ring algorithm's programs, carried out symbolically: right for every collective, rank count and size.
#include "coll/program/chunking.h"
#include "program_help.h"
#include "sim/random.h"

namespace infold::coll {
namespace {

Program compiled(Collective collective, sim::Bytes bytes, int ranks, const net::Blueprint& fabric,
                 const Tuning& tuning) {
  return compiled(*find_algorithm("ring"), collective, bytes, ranks, fabric, tuning);
}

std::int64_t bytes_to_send(Collective collective, std::int64_t bytes, int ranks) {
  return (collective == Collective::kAllReduce ? 2 : 1) * (ranks - 1) * bytes;
}

Tuning small(int channels) {
  return small_tuning(channels);
}

void expect_right(const Program& program) {
  EXPECT_EQ(flaw_of(program), "");
  EXPECT_EQ(bytes_sent(program), bytes_to_send(program.collective, program.bytes.count(), program.ranks));
}

class RingProgram : public testing::TestWithParam<Collective> {};
INSTANTIATE_TEST_SUITE_P(Collectives, RingProgram,
                         testing::Values(Collective::kAllReduce, Collective::kReduceScatter,
                                         Collective::kAllGather),
                         [](const auto& tested) { return std::string(sim::name_of(tested.param)); });

TEST_P(RingProgram, IsRightForEveryRankCountAndOddSizes) {
  for (int ranks = 1; ranks <= 16; ++ranks) {
    const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
    for (std::int64_t elements : {0, 1, 2, 3, 5, 13, 16, 17, 100, 1'001, 9'999}) {
      if (GetParam() != Collective::kAllReduce) elements = (elements + ranks - 1) / ranks * ranks;
      for (std::int64_t size : {2, 4}) {
        SCOPED_TRACE(std::to_string(ranks) + " ranks, " + std::to_string(elements) + " elements of " +
                     std::to_string(size));
        expect_right(compiled(GetParam(), sim::Bytes{elements * size}, ranks, fabric, small(1 + ranks % 3)));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(RingProgram, IsRightOnSeveralRings) {
  struct Case {
    net::Topology topology;
    int gpus;
  };
  for (const Case& c : {Case{net::Topology::kFullMesh, 5}, Case{net::Topology::kCubeMesh, 8},
                        Case{net::Topology::kRing, 7}}) {
    const auto fabric = fabric_of(c.topology, c.gpus);
    for (int channels : {1, 2, 3, 6, 13}) {
      for (int ranks = 2; ranks <= c.gpus; ++ranks) {
        SCOPED_TRACE(std::to_string(ranks) + " of " + std::to_string(c.gpus) + " GPUs, " +
                     std::to_string(channels));
        expect_right(compiled(GetParam(), sim::Bytes{4 * 840}, ranks, fabric, small(channels)));
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(RingProgram, IsRightWithAnyTuning) {
  for (std::uint64_t seed = 0; seed < 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    sim::Random random(sim::mix(seed));
    const int ranks = 2 + static_cast<int>(random.below(15));
    const Tuning t = random_tuning(random);
    auto elements = static_cast<std::int64_t>(random.below(5'000));
    if (GetParam() != Collective::kAllReduce) elements -= elements % ranks;
    expect_right(compiled(GetParam(), sim::Bytes{elements * 2}, ranks,
                          fabric_of(net::Topology::kSwitchPlanes, ranks), t));
  }
}

TEST_P(RingProgram, NoStepIsLargerThanAChunkAndEachRankSendsToItsSuccessorOnly) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, 6);
  const Tuning t = small(2);
  const Program program = compiled(GetParam(), sim::Bytes{6 * 10'000}, 6, fabric, t);
  for (int rank = 0; rank < 6; ++rank) {
    for (const Step& s : program.steps(rank, 0)) {
      EXPECT_LE(s.bytes, max_chunk(t));
      if (s.sends()) {
        EXPECT_EQ(s.to, Peers({(rank + 1) % 6}));
      }
      if (s.receives()) {
        EXPECT_EQ(s.from, Peers({(rank + 5) % 6}));
      }
    }
  }
}

TEST(RingProgram, UsesEachRingForAsManyChannels) {
  const auto fabric = fabric_of(net::Topology::kRing, 6);  // two rings, one each way round
  EXPECT_EQ(compiled(Collective::kAllReduce, 1_MiB, 6, fabric, small(5)).channels, 4);
  EXPECT_EQ(compiled(Collective::kAllReduce, 1_MiB, 6, fabric, small(1)).channels, 1);
}

TEST(RingProgram, AnAverageIsDividedOnceForEachByte) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, 4);
  const Program program = compiled(Collective::kAllReduce, sim::Bytes{40'000}, 4, fabric, small(2));
  std::int64_t divided = 0;
  for (const auto& list : program.lists) {
    for (const Step& s : list) divided += s.finishes ? s.bytes.count() : 0;
  }
  EXPECT_EQ(divided, 40'000);
}

TEST(Steps, HaveNames) {
  Step s;
  s.bytes = 16_B;
  s.uses_input = true;
  s.writes_output = true;
  EXPECT_EQ(name_of(s), "copy");
  s.to = {1};
  EXPECT_EQ(name_of(s), "copy-send");
  s.writes_output = false;
  EXPECT_EQ(name_of(s), "send");
  s.from = {0};
  EXPECT_EQ(name_of(s), "recv-reduce-send");
  EXPECT_EQ(s.loads(), 2);
  s.writes_output = true;
  EXPECT_EQ(name_of(s), "recv-reduce-copy-send");
  s.to = {};
  EXPECT_EQ(name_of(s), "recv-reduce");
  s.uses_input = false;
  EXPECT_EQ(name_of(s), "recv");
  s.to = {1};
  EXPECT_EQ(name_of(s), "recv-copy-send");
  EXPECT_EQ(s.loads(), 1);
  s.lands = true;
  EXPECT_EQ(name_of(s), "recv-copy-put");
  s.bytes = 0_B;
  EXPECT_EQ(name_of(s), "wait-signal");
}

TEST(Collectives, SizesAndFactorsAreThoseOfNcclTests) {
  EXPECT_EQ(buffer_sizes(Collective::kAllReduce, 80_B, 4).input, 80_B);
  EXPECT_EQ(buffer_sizes(Collective::kAllReduce, 80_B, 4).output, 80_B);
  EXPECT_EQ(buffer_sizes(Collective::kReduceScatter, 80_B, 4).output, 20_B);
  EXPECT_EQ(buffer_sizes(Collective::kAllGather, 80_B, 4).input, 20_B);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllReduce, 4), 1.5);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kReduceScatter, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllGather, 4), 0.75);
  EXPECT_EQ(buffer_sizes(Collective::kAllToAll, 80_B, 4).input, 80_B);
  EXPECT_EQ(buffer_sizes(Collective::kBarrier, 80_B, 4).input, 0_B);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kAllToAll, 4), 0.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kBroadcast, 4), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::kReduce, 4), 1);
}

}  // namespace
}  // namespace infold::coll
