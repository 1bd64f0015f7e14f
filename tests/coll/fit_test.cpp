// Programs of users at other sizes and with other protocols than they were written for.
#include "coll/program/fit.h"

#include <rapidcheck/gtest.h>

#include "program_help.h"

namespace infold::coll {
namespace {

OwnProgram own(const char* algorithm, Collective collective, sim::Bytes bytes, int ranks,
               Tuning settings = small_tuning(2), Protocol protocol = Protocol::kSimple) {
  const auto fabric = fabric_of(net::Topology::kSwitchPlanes, ranks);
  return {.name = "own.json",
          .program = compiled(*find_algorithm(algorithm), collective, bytes, ranks, fabric,
                              for_protocol(settings, protocol)),
          .settings = settings};
}

TEST(Fit, TheSizeAndProtocolOfTheFileChangeNothing) {
  const OwnProgram ring = own("ring", Collective::kAllReduce, 6000_B, 3);
  const auto same = fit(ring, 6000_B, Protocol::kSimple, 4_B);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->lists, ring.program.lists);
}

TEST(Fit, AMultipleMovesAMultiple) {
  const OwnProgram ring = own("ring", Collective::kAllReduce, 960_B, 4);
  const auto twice = fit(ring, 1920_B, Protocol::kSimple, 4_B);
  ASSERT_TRUE(twice) << twice.error().message;
  EXPECT_EQ(bytes_sent(*twice), 2 * bytes_sent(ring.program));
  EXPECT_EQ(twice->steps(0, 0).size(), ring.program.steps(0, 0).size());
}

TEST(Fit, APieceLongerThanAChunkIsSentInWindows) {
  const OwnProgram ring = own("ring", Collective::kAllReduce, 960_B, 4);
  const auto large = fit(ring, 960_B * 100, Protocol::kSimple, 4_B);
  ASSERT_TRUE(large) << large.error().message;
  EXPECT_EQ(bytes_sent(*large), 100 * bytes_sent(ring.program));
  EXPECT_GT(large->steps(0, 0).size(), 5 * ring.program.steps(0, 0).size());
  for (const auto& list : large->lists) {
    for (const Step& s : list) EXPECT_LE(s.bytes, max_chunk(large->tuning));
  }
}

TEST(Fit, PiecesOfNothingAreLeftOut) {
  const OwnProgram ring = own("ring", Collective::kAllReduce, 960_B, 4);
  const auto one = fit(ring, 4_B, Protocol::kSimple, 4_B);
  ASSERT_TRUE(one) << one.error().message;
  for (const auto& list : one->lists) {
    for (const Step& s : list) EXPECT_EQ(s.bytes, 4_B);
  }
}

TEST(Fit, StoresIntoOutputsNeedTheFenceOfSimple) {
  const OwnProgram two_shot = own("two-shot", Collective::kAllReduce, 960_B, 4);
  EXPECT_FALSE(can_use(two_shot.program, Protocol::kLl));
  const auto with_ll = fit(two_shot, 960_B, Protocol::kLl, 4_B);
  ASSERT_FALSE(with_ll);
  EXPECT_NE(with_ll.error().message.find("needs the protocol simple, not ll"), std::string::npos);
}

TEST(Fit, AnotherProtocolHasItsOwnSettings) {
  const OwnProgram ring = own("ring", Collective::kAllReduce, 1_MiB, 4, Tuning{});
  const auto with_ll = fit(ring, 1_MiB, Protocol::kLl, 4_B);
  ASSERT_TRUE(with_ll) << with_ll.error().message;
  EXPECT_EQ(with_ll->tuning.protocol, Protocol::kLl);
  EXPECT_EQ(with_ll->tuning.buffer, for_protocol(Tuning{}, Protocol::kLl).buffer);
  // And back again.
  const OwnProgram written{.name = "", .program = *with_ll, .settings = ring.settings};
  const auto simple = fit(written, 1_MiB, Protocol::kSimple, 4_B);
  ASSERT_TRUE(simple);
  EXPECT_EQ(simple->tuning.buffer, Tuning{}.buffer);
}

TEST(Fit, AProgramWithoutDataHasNoPieces) {
  const OwnProgram barrier = own("ring", Collective::kBarrier, 0_B, 4);
  EXPECT_TRUE(fit(barrier, 0_B, Protocol::kSimple, 4_B));
  EXPECT_FALSE(fit(barrier, 4_B, Protocol::kSimple, 4_B));
}

/// Every algorithm's program goes to every size: fit() has proved what it gives.
RC_GTEST_PROP(FitProperty, EveryAlgorithmAtEverySize, ()) {
  const auto all = algorithms();
  const Algorithm& a = all[*rc::gen::inRange<std::size_t>(0, all.size())];
  const Collective c = a.collectives[*rc::gen::inRange<std::size_t>(0, a.collectives.size())];
  const int ranks = *rc::gen::element(2, 3, 4, 8);
  const Protocol protocol = *rc::gen::element(Protocol::kSimple, Protocol::kLl, Protocol::kLl128);
  const sim::Bytes written = size_for(c, *rc::gen::inRange(ranks, 3000), 4, ranks);
  const sim::Bytes wanted = size_for(c, *rc::gen::inRange(0, 30'000), 4, ranks);
  const OwnProgram program = own(a.name.data(), c, written, ranks);
  const auto fitted = fit(program, wanted, protocol, 4_B);
  if (!can_use(program.program, protocol)) return RC_ASSERT(!fitted);
  // Where switches give each rank a share, and where ranks hand on other ranks' pieces by way of scratch
  // memory, pieces must be equal.
  if (!fitted) {
    RC_ASSERT(fitted.error().message.find("can not be cut") != std::string::npos);
    const bool even = wanted.count() % written.count() == 0 && wanted > sim::Bytes{};
    RC_ASSERT(!even);
    return;
  }
  RC_ASSERT(fitted->bytes == wanted);
  RC_ASSERT(!find_flaw(*fitted));
}

}  // namespace
}  // namespace infold::coll
