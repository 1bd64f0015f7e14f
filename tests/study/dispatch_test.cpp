// Dispatch and combine: values, bytes and tables, whichever algorithm and switches carry them.
#include "inc/inc_spec.h"
#include "job_help.h"

namespace infold::study {
namespace {

CollectiveJob tokens_on(SystemSpec system, Collective c, const char* algorithm, int fan_out, sim::Bytes token,
                        sim::Bytes bytes) {
  system.coll.experts = {.fan_out = fan_out, .token = token};
  CollectiveJob job = job_on(system, c, bytes);
  job.algorithm = coll::find_algorithm(algorithm);
  job.check = true;
  return job;
}

constexpr std::array kBoth = {Collective::kDispatch, Collective::kCombine};
constexpr std::array kAlgorithms = {"direct", "inc-push", "inc-pull"};

TEST(Dispatch, BringsRightValuesWhateverTheFanOutAndTheToken) {
  for (const char* algorithm : kAlgorithms) {
    for (const Collective c : kBoth) {
      for (const int gpus : {2, 3, 8}) {
        for (const int fan_out : {1, 2, 5, 8}) {
          for (const sim::Bytes token : {16_B, 400_B, 4_KiB}) {
            const CollectiveJob job =
                tokens_on(small_system(gpus, 2), c, algorithm, fan_out, token, sim::Bytes{gpus * 20'016});
            EXPECT_EQ(result_of(job).wrong, 0u) << algorithm << " " << sim::name_of(c) << " " << gpus << " "
                                                << fan_out << " " << token.count();
          }
        }
      }
    }
  }
}

/// Tables of any size, policies, late GPUs, and switches below switches.
TEST(Dispatch, IsRightWithEveryTableAndPolicy) {
  using namespace inc;
  std::uint64_t turn = 0;
  for (const char* algorithm : {"inc-push", "inc-pull"}) {
    for (const Collective c : kBoth) {
      for (const auto full : {TableFull::kStall, TableFull::kBypass, TableFull::kEvict}) {
        for (const auto order : {SumOrder::kArrival, SumOrder::kRank}) {
          for (const int entries : {1, 3, 64}) {
            ++turn;
            SystemSpec system = small_system(8, 2);
            if (turn % 2 == 0) {
              system.machine.fabric.topology = net::Topology::kFatTree;
              system.machine.fabric.groups = 4;
              system.machine.fabric.leaves_per_group = system.machine.fabric.spines = 1;
            }
            system.machine.inc.table_full = full;
            system.machine.inc.order = order;
            system.machine.inc.table_entries = entries;
            CollectiveJob job = tokens_on(system, c, algorithm, 3, 512_B, sim::Bytes{8 * 24'000});
            if (turn % 3 == 0) job.delays = skewed(8, 20'000_ns, turn);
            if (turn % 5 == 0) job.concurrent = 2;
            SCOPED_TRACE(fmt::format("{} {} full {} order {} entries {} turn {}", algorithm, sim::name_of(c),
                                     sim::name_of(full), sim::name_of(order), entries, turn));
            EXPECT_EQ(result_of(job).wrong, 0u);
            if (HasFailure()) return;
          }
        }
      }
    }
  }
}

/// With as many tokens as ranks, or a multiple, every rank has equally many of each.
TEST(Dispatch, SendsTheBytesOfItsFormula) {
  const int n = 8;
  const sim::Bytes share = 64_KiB;
  const double kMeeting = 16;  // ranks whose memory others reach into meet first
  for (const int f : {1, 2, 4, 8}) {
    const auto sent = [&](Collective c, const char* algorithm) {
      return static_cast<double>(
          result_of(tokens_on(small_system(n, 2), c, algorithm, f, 4_KiB, share * n)).link_bytes_per_gpu);
    };
    const auto whole = static_cast<double>(share.count());
    // Software sends a copy to each rank but the own; with switches a token leaves once.
    EXPECT_EQ(sent(Collective::kDispatch, "direct"), whole * f * (n - 1) / n);
    EXPECT_EQ(sent(Collective::kDispatch, "inc-push"), whole + kMeeting);
    EXPECT_EQ(sent(Collective::kDispatch, "inc-pull"), whole + kMeeting);
    // Every contribution leaves its rank; what comes back is one sum instead of f.
    EXPECT_EQ(sent(Collective::kCombine, "direct"), whole * f * (n - 1) / n);
    EXPECT_EQ(sent(Collective::kCombine, "inc-push"), whole * f);
    EXPECT_EQ(sent(Collective::kCombine, "inc-pull"), whole * f + kMeeting);
  }
}

TEST(Dispatch, ToAllRanksIsAnAllGatherAndToOneAnAllToAll) {
  for (const int f : {1, 8}) {
    const SystemSpec system = small_system(8, 2);
    CollectiveJob job = tokens_on(system, Collective::kDispatch, "inc-push", f, 4_KiB, 1_MiB);
    const CollectiveResult dispatch = result_of(job);
    job.collective = Collective::kAllGather;
    const CollectiveResult gather = result_of(job);
    EXPECT_EQ(dispatch.link_bytes_per_gpu, gather.link_bytes_per_gpu);
    if (f == 8) {
      EXPECT_NEAR(dispatch.time.in_us() / gather.time.in_us(), 1, 0.05);
    }
    if (f == 1) {
      EXPECT_LT(dispatch.time, gather.time);
    }
  }
}

TEST(Dispatch, WhatSwitchesCannotCountIsRefused) {
  const CollectiveJob job =
      tokens_on(small_system(8, 2), Collective::kDispatch, "inc-push", 2, 4_KiB, sim::Bytes::gib(4));
  EXPECT_NE(why(prepare(job)), "");
}

}  // namespace
}  // namespace infold::study
