// How a message is cut: over channels, into chunks that an algorithm passes on whole, and into the
// slices that are handed over with one flag each (NCCL's Simple protocol).
#pragma once

#include <algorithm>
#include <cstdint>

#include "coll/program/tuning.h"
#include "gpu/copy/move.h"
#include "sim/units.h"

namespace infold::coll {

constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) {
  return (n + to - 1) / to * to;
}

/// Cuts fall on multiples of a 16-byte vector access, which every element size divides.
inline constexpr std::int64_t kVector = gpu::kVectorAccess;

/// The largest slice, which is what one flag can announce.
inline sim::Bytes max_slice(const Tuning& t) {
  return t.buffer / t.buffer_steps * t.slice_steps / kVector * kVector;
}
/// The largest chunk, which is several slices.
inline sim::Bytes max_chunk(const Tuning& t) {
  return max_slice(t) * t.slices_per_chunk;
}
/// How many slices fit the buffer of a connection.
inline int buffer_slots(const Tuning& t) {
  return t.buffer_steps / t.slice_steps;
}

/// The slice size of a chunk is an even share of it, but never so small that flags dominate.
inline sim::Bytes slice_of(const Tuning& t, sim::Bytes chunk) {
  const std::int64_t share = round_up((chunk.count() + t.slices_per_chunk - 1) / t.slices_per_chunk, kVector);
  const std::int64_t least = round_up(max_slice(t).count() / 32, kVector);
  return sim::Bytes{std::min(std::max(share, least), max_slice(t).count())};
}

/// The chunk of a ring's window is an even share of what is left, in whole grains, as far as the buffer
/// allows.
inline sim::Bytes chunk_of(const Tuning& t, sim::Bytes even) {
  return sim::min(max_chunk(t), sim::Bytes{round_up(even.count(), t.chunk_grain.count())});
}

/// The number of channels that are worth using for a message.
inline int channels_for(const Tuning& t, sim::Bytes bytes) {
  const std::int64_t least = t.min_bytes_per_thread.count() * t.threads;
  return static_cast<int>(std::clamp<std::int64_t>(bytes.count() / least, 1, t.channels));
}

/// The part [begin, end) of `bytes` that channel `index` of `channels` works on.
struct Part {
  sim::Bytes begin;
  sim::Bytes end;
};
inline Part part_of(sim::Bytes bytes, int index, int channels) {
  const std::int64_t share = round_up((bytes.count() + channels - 1) / channels, kVector);
  return {sim::min(bytes, sim::Bytes{share * index}), sim::min(bytes, sim::Bytes{share * (index + 1)})};
}

}  // namespace infold::coll
