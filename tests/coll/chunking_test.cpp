// How a message is cut: every byte once, at multiples of a vector, and no slice larger than its slot.
#include "coll/program/chunking.h"

#include <rapidcheck.h>

namespace infold::coll {
namespace {

Tuning any_tuning() {
  Tuning t;
  t.buffer = sim::Bytes{*rc::gen::inRange<std::int64_t>(4'096, 8 << 20)};
  t.buffer_steps = *rc::gen::inRange(1, 65);
  t.slice_steps = *rc::gen::inRange(1, t.buffer_steps + 1);
  t.slices_per_chunk = *rc::gen::inRange(1, 65);
  t.channels = *rc::gen::inRange(1, 257);
  t.threads = *rc::gen::inRange(32, 1'025);
  t.min_bytes_per_thread = sim::Bytes{*rc::gen::inRange<std::int64_t>(1, 1 << 20)};
  return t;
}

TEST(Chunking, TheDefaultsAreNcclsSimpleProtocol) {
  const Tuning t;
  EXPECT_EQ(max_slice(t), 1_MiB);
  EXPECT_EQ(max_chunk(t), 2_MiB);
  EXPECT_EQ(buffer_slots(t), 4);
  EXPECT_EQ(slice_of(t, 2_MiB), 1_MiB);
  EXPECT_EQ(slice_of(t, 1_MiB), 512_KiB);
  EXPECT_EQ(slice_of(t, 16_B), 32_KiB) << "not so small that flags dominate";
}

TEST(Chunking, PartsCoverTheMessageOnceInOrder) {
  EXPECT_TRUE(rc::check([] {
    const sim::Bytes bytes{*rc::gen::inRange<std::int64_t>(0, 1 << 22)};
    const int channels = *rc::gen::inRange(1, 257);
    sim::Bytes at;
    for (int c = 0; c < channels; ++c) {
      const Part part = part_of(bytes, c, channels);
      RC_ASSERT(part.begin == at);
      RC_ASSERT(part.begin <= part.end);
      RC_ASSERT(part.begin.count() % kVector == 0 || part.begin == bytes);
      at = part.end;
    }
    RC_ASSERT(at == bytes);
  }));
}

TEST(Chunking, SlicesFitTheirSlotAndAChunkHasNoMoreThanItMay) {
  EXPECT_TRUE(rc::check([] {
    const Tuning t = any_tuning();
    const sim::Bytes chunk{*rc::gen::inRange<std::int64_t>(1, max_chunk(t).count() + 1)};
    const sim::Bytes slice = slice_of(t, chunk);
    RC_ASSERT(slice > sim::Bytes{});
    RC_ASSERT(slice <= max_slice(t));
    RC_ASSERT((chunk.count() + slice.count() - 1) / slice.count() <= t.slices_per_chunk);
    RC_ASSERT(max_slice(t) * buffer_slots(t) <= t.buffer);
  }));
}

TEST(Chunking, NoCutFallsIntoAnElement) {
  EXPECT_TRUE(rc::check([] {
    const Tuning t = any_tuning();
    const sim::Bytes chunk{*rc::gen::inRange<std::int64_t>(1, max_chunk(t).count() + 1)};
    RC_ASSERT(max_slice(t).count() % kVector == 0);
    RC_ASSERT(max_chunk(t).count() % kVector == 0);
    RC_ASSERT(slice_of(t, chunk).count() % kVector == 0);
  }));
}

TEST(Chunking, ChannelsAreUsedWhereTheirThreadsHaveWork) {
  Tuning t;
  t.channels = 24;
  t.threads = 512;
  t.min_bytes_per_thread = 64_B;  // 32 KiB a channel
  EXPECT_EQ(channels_for(t, 0_B), 1);
  EXPECT_EQ(channels_for(t, 64_KiB - 1_B), 1);
  EXPECT_EQ(channels_for(t, 64_KiB), 2);
  EXPECT_EQ(channels_for(t, 1_GiB), 24);
}

}  // namespace
}  // namespace infold::coll
