// What the algorithms share when they write programs. Internal to coll/.
#pragma once

#include <algorithm>
#include <vector>

#include "coll/algo/algorithms.h"
#include "coll/program/chunking.h"
#include "coll/program/program.h"

namespace infold::coll {

/// Returns a program for the request that has no steps yet.
inline Program blank_program(const Request& request, int channels) {
  Program p;
  p.collective = request.collective;
  p.bytes = request.bytes;
  p.ranks = request.ranks();
  p.channels = channels;
  p.root = has_root(request.collective) ? request.root : 0;
  p.engine = request.engine;
  p.tuning = request.tuning;
  p.lists.resize(static_cast<std::size_t>(p.ranks) * static_cast<std::size_t>(channels));
  return p;
}

/// Whether writing the next list of steps is no longer wanted.
inline bool stopped(const Request& request) {
  return request.go_on != nullptr && sim::asked_to_stop(*request.go_on);
}

/// Adds a step that moves data, unless it has no bytes.
inline void add(std::vector<Step>& list, const Step& step) {
  if (step.bytes > sim::Bytes{}) list.push_back(step);
}
/// Adds a step that is only a flag: it tells `to`, waits for `from`, or both.
inline void add_flag(std::vector<Step>& list, Peers from, Peers to) {
  Step s;
  s.from = from;
  s.to = to;
  list.push_back(s);
}

/// A step for `bytes` at the same place of input, held memory and output.
inline Step step_at(sim::Bytes begin, sim::Bytes bytes) {
  Step s;
  s.input_offset = s.held_offset = s.output_offset = begin;
  s.bytes = bytes;
  return s;
}

/// Calls `f(begin, bytes)` for pieces of a part, in order.
template <class F>
void for_pieces(Part part, sim::Bytes piece, F f) {
  for (sim::Bytes at = part.begin; at < part.end; at += piece) f(at, sim::min(piece, part.end - at));
}

/// The part of `whole` that belongs to piece `index` of `count`.
inline Part part_of(Part whole, int index, int count) {
  const Part p = part_of(whole.end - whole.begin, index, count);
  return {whole.begin + p.begin, whole.begin + p.end};
}

/// The piece size in which a part should pass along `hops` ranks. It is small enough that all of them work
/// most of the time (there are as many pieces again as it takes to reach the last rank), but not so small
/// that flags dominate.
inline sim::Bytes pipelined_piece(const Tuning& t, sim::Bytes part, int hops) {
  const std::int64_t even = round_up(part.count() / (2 * std::max(1, hops)) + 1, kVector);
  const std::int64_t least = slice_of(t, sim::Bytes{1}).count() * t.slices_per_chunk;
  return sim::Bytes{std::clamp(even, std::min(least, max_chunk(t).count()), max_chunk(t).count())};
}

/// Steps of a rank that belong together, for example all that concern one chunk.
using Steps = std::vector<Step>;

/// Alternates sends and receives. A rank sends ahead of what it receives by one group if the buffers hold two
/// chunks, so that links do not run dry; if it sent further ahead, it could wait for room that no rank makes.
inline void interleave(const std::vector<Steps>& sends, const std::vector<Steps>& receives, const Tuning& t,
                       Steps& out) {
  const std::size_t lead = buffer_slots(t) >= 2 * t.slices_per_chunk ? 1 : 0;
  const auto append = [&](const Steps& group) { out.insert(out.end(), group.begin(), group.end()); };
  for (std::size_t i = 0; i < std::max(sends.size(), receives.size() + lead); ++i) {
    if (i < sends.size()) append(sends[i]);
    if (i >= lead && i - lead < receives.size()) append(receives[i - lead]);
  }
}

/// A rank other than `self`. Channels begin with different ranks, so that all links work from the start where
/// each pair of ranks has a link of its own.
inline int nth_other(int self, int nth, int ranks) {
  return (self + 1 + nth % (ranks - 1)) % ranks;
}

/// All of `ranks` but `self`, beginning behind it, in groups that one step can serve.
inline std::vector<Peers> others_of(int self, int ranks) {
  std::vector<Peers> groups;
  for (int d = 1; d < ranks; ++d) {
    if (groups.empty() || groups.back().full()) groups.emplace_back();
    groups.back().add((self + d) % ranks);
  }
  return groups;
}

}  // namespace infold::coll
