// Warps that copy in runs: how long pieces of few runs take, and that every byte is copied once.
#include "gpu/copy/warp_copier.h"

#include <gtest/gtest.h>

#include <map>

namespace infold::gpu {
namespace {

using namespace sim::literals;

class Client final : public WarpCopier::Client {
 public:
  explicit Client(sim::EventQueue& events) : events_(events) {}
  void copied(std::uint32_t, std::size_t piece, std::uint32_t offset, std::uint32_t bytes) override {
    for (std::uint32_t i = 0; i < bytes; ++i) ++times[{piece, offset + i}];
  }
  void copy_complete(std::uint32_t cookie) override {
    complete = cookie;
    at = events_.now();
  }
  std::map<std::pair<std::size_t, std::uint32_t>, int> times;
  std::uint32_t complete = 0;
  sim::Time at;

 private:
  sim::EventQueue& events_;
};

struct Scene {
  GpuSpec spec;
  sim::EventQueue events;
  MemorySystem memory{spec, Contention{}};
  Client client{events};

  /// When pieces of so many bytes are copied by so many warps.
  sim::Time copy(std::vector<std::uint32_t> sizes, int warps, LoadBudget* loads = nullptr) {
    WarpCopier copier({.warps = warps, .run = 4_KiB, .port = 1000_GBps, .functional = true, .loads = loads},
                      events, memory, client, 7);
    std::vector<WarpCopier::Piece> pieces;
    for (const std::uint32_t bytes : sizes)
      pieces.push_back(
          {{1'000'000 * (pieces.size() + 1), 0}, {9'000'000 + 1'000'000 * pieces.size(), 0}, bytes});
    copier.start(std::move(pieces));
    EXPECT_FALSE(copier.idle());
    events.run();
    EXPECT_TRUE(copier.idle());
    EXPECT_EQ(client.complete, 7u);
    return client.at;
  }
};

TEST(WarpCopier, CopiesEveryByteOfEveryPieceOnce) {
  Scene scene;
  const std::vector<std::uint32_t> sizes = {16'384, 512, 4'096 * 9 + 1'300, 16, 40'000};
  scene.copy(sizes, 7);
  std::size_t all = 0;
  for (const std::uint32_t s : sizes) all += s;
  EXPECT_EQ(scene.client.times.size(), all);
  for (const auto& [where, times] : scene.client.times) ASSERT_EQ(times, 1);
}

TEST(WarpCopier, APieceOfFewRunsLeavesWarpsWithoutWork) {
  // Given pieces of four runs, when seven warps copy them, then three have nothing to do: it takes as long as
  // with four.
  const std::vector<std::uint32_t> pieces(8, 4 * 4096);
  EXPECT_EQ(Scene{}.copy(pieces, 7), Scene{}.copy(pieces, 4));
  EXPECT_GT(Scene{}.copy(pieces, 3), Scene{}.copy(pieces, 4));
}

TEST(WarpCopier, AnEighthRunForSevenWarpsCostsAnotherRoundTripToMemory) {
  const std::vector<std::uint32_t> seven(8, 7 * 4096);
  const std::vector<std::uint32_t> eight(8, 8 * 4096);
  const double ratio = Scene{}.copy(eight, 7).in_us() / Scene{}.copy(seven, 7).in_us();
  EXPECT_GT(ratio, 1.6) << "one warp has two runs of every piece";
  EXPECT_LT(ratio, 2.1);
}

TEST(WarpCopier, LoadsThatTheSmCanNotKeepTrackOfWait) {
  // Given room for the runs of four warps, when eight copy, then it takes about as long as with four, and
  // every byte is copied once all the same.
  const std::vector<std::uint32_t> pieces(8, 8 * 4096);
  LoadBudget four(16_KiB);
  Scene narrow;
  const sim::Time limited = narrow.copy(pieces, 8, &four);
  EXPECT_EQ(narrow.client.times.size(), 8u * 8 * 4096);
  EXPECT_GT(limited, Scene{}.copy(pieces, 8));
  EXPECT_NEAR(limited.in_us() / Scene{}.copy(pieces, 4).in_us(), 1, 0.15);
  EXPECT_EQ(four.taken(), sim::Bytes{});
  LoadBudget ample(32_KiB);
  EXPECT_EQ(Scene{}.copy(pieces, 8, &ample), Scene{}.copy(pieces, 8));
}

TEST(LoadBudget, IsFirstComeFirstServedAndNeverBlocksTheOnlyOne) {
  struct Waiter final : LoadBudget::Waiter {
    std::vector<std::uint32_t> told;
    void may_load(std::uint32_t warp) override { told.push_back(warp); }
  } waiter;
  LoadBudget budget(8_KiB);
  EXPECT_TRUE(budget.take(16_KiB, waiter, 0)) << "more than there is, but nothing else is under way";
  EXPECT_FALSE(budget.take(6_KiB, waiter, 1));
  EXPECT_FALSE(budget.take(1_KiB, waiter, 2)) << "it would not overtake";
  budget.give_back(15_KiB);
  EXPECT_EQ(waiter.told, (std::vector<std::uint32_t>{1, 2}));
  EXPECT_EQ(budget.taken(), 8_KiB);
}

}  // namespace
}  // namespace infold::gpu
