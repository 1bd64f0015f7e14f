// What a protocol makes of bytes, buffers and threads, and how landed pieces are put together.
#include "coll/program/protocol.h"

#include "coll/engine/landed.h"
#include "coll/program/chunking.h"
#include "coll/program/tuning.h"
#include "sim/random.h"

namespace infold::coll {
namespace {

TEST(Encoding, SimpleSendsDataAsTheyAre) {
  const gpu::Encoding e = encoding_of(Protocol::kSimple);
  EXPECT_FALSE(e.flags_inside);
  for (std::int64_t n : {0, 1, 7, 1'000'003}) EXPECT_EQ(e.wire(sim::Bytes{n}), sim::Bytes{n});
}

TEST(Encoding, LlDoublesTheBytesInLinesOfSixteen) {
  const gpu::Encoding e = encoding_of(Protocol::kLl);
  EXPECT_EQ(e.wire(8_B), 16_B);
  EXPECT_EQ(e.wire(1_B), 16_B) << "a thread stores a whole line";
  EXPECT_EQ(e.wire(4096_B), 8192_B);
}

TEST(Encoding, Ll128Carries120OfEvery128BytesInWholeWarpStores) {
  const gpu::Encoding e = encoding_of(Protocol::kLl128);
  EXPECT_EQ(e.wire(1920_B), 2048_B) << "120 of every 128";
  EXPECT_EQ(e.wire(1_B), 2048_B) << "a warp stores 16 lines, full or not";
  EXPECT_EQ(e.wire(1921_B), 4096_B);
  EXPECT_EQ(e.complete(2047), 0_B) << "a store that is not all there cannot be read";
  EXPECT_EQ(e.complete(4096), 3840_B);
}

TEST(Encoding, DataOfTheWireGrowWithItAndFitIt) {
  for (const auto& p : kProtocolNames) {
    const gpu::Encoding e = encoding_of(p.value);
    std::int64_t before = 0;
    for (std::int64_t wire = 16; wire < 10'000; wire += 16) {
      const std::int64_t data = e.data_in(wire);
      EXPECT_GE(data, before);
      EXPECT_LE(data, wire);
      EXPECT_EQ(data % 8, 0) << "no element is cut in two";
      before = data;
    }
  }
}

TEST(ForProtocol, GivesTheLibrarysBuffersAndThreads) {
  const Tuning ll = for_protocol({}, Protocol::kLl);
  EXPECT_EQ(ll.threads, 512);
  EXPECT_EQ(max_chunk(ll), 32_KiB) << "a step of 64 KiB, half of it flags";
  EXPECT_EQ(buffer_slots(ll), 8);
  EXPECT_EQ(ll.chunk_grain, 4096_B);
  const Tuning ll128 = for_protocol({}, Protocol::kLl128);
  EXPECT_EQ(ll128.threads, 640);
  EXPECT_EQ(max_chunk(ll128), 576'000_B) << "a step of 614,400 bytes, a sixteenth of it flags";
  EXPECT_EQ(buffer_slots(ll128), 8);
  EXPECT_EQ(ll128.chunk_grain, 19'200_B);
  EXPECT_EQ(max_chunk(for_protocol({}, Protocol::kSimple)), 2_MiB);
}

TEST(Landed, KnowsHowFarEverythingIsThere) {
  Landed l;
  l.add(100, 50);
  EXPECT_EQ(l.up_to(), 0u);
  l.add(0, 60);
  EXPECT_EQ(l.up_to(), 60u);
  l.add(60, 40);
  EXPECT_EQ(l.up_to(), 150u);
  l.clear();
  EXPECT_EQ(l.up_to(), 0u);
}

TEST(Landed, AnyOrderEndsTheSame) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    sim::Random random(sim::mix(seed));
    std::vector<std::uint32_t> pieces(40);
    for (std::uint32_t i = 0; i < 40; ++i) pieces[i] = i * 128;
    Landed l;
    while (!pieces.empty()) {
      const auto which = static_cast<std::ptrdiff_t>(random.below(pieces.size()));
      l.add(pieces[static_cast<std::size_t>(which)], 128);
      pieces.erase(pieces.begin() + which);
      const std::uint32_t missing =
          pieces.empty() ? 40 * 128 : *std::min_element(pieces.begin(), pieces.end());
      ASSERT_EQ(l.up_to(), missing) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace infold::coll
