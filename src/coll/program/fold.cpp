// Compares the steps of the ranks, and replaces peers by the ranks that represent them.
#include "coll/program/fold.h"

#include <algorithm>

#include "coll/program/chunking.h"

namespace infold::coll {

namespace {

/// The distances from a rank back to its peers, going round the circle of ranks.
Peers turned(const Peers& peers, int rank, int ranks) {
  Peers out;
  for (const int p : peers) out.add((p - rank + ranks) % ranks);
  return out;
}

/// What must be the same on all ranks: a step as its rank sees it, without its place in memory and its size.
Step kind_of(Step s, int rank, int ranks) {
  s.from = turned(s.from, rank, ranks);
  s.to = turned(s.to, rank, ranks);
  s.bytes = sim::Bytes{s.only_flags() ? 0 : 1};
  s.input_offset = s.held_offset = s.output_offset = {};
  return s;
}

std::optional<Peers> stood_for(const Peers& peers, int self, int ranks) {
  Peers out;
  for (const int p : peers) {
    if (p % ranks == self) return std::nullopt;
    out.add(p % ranks);
  }
  return out;
}

}  // namespace

std::optional<Program> folded(const Program& program, int ranks) {
  if (program.in_network() || ranks < 2 || program.ranks % ranks != 0) return std::nullopt;
  Program out = program;
  out.ranks = ranks;
  out.lists.resize(static_cast<std::size_t>(ranks) * static_cast<std::size_t>(program.channels));
  for (int channel = 0; channel < program.channels; ++channel) {
    const std::vector<Step>& first = program.steps(0, channel);
    std::vector<std::int64_t> sums(first.size());
    for (int rank = 0; rank < program.ranks; ++rank) {
      const std::vector<Step>& list = program.steps(rank, channel);
      if (list.size() != first.size()) return std::nullopt;
      for (std::size_t i = 0; i < list.size(); ++i) {
        if (kind_of(list[i], rank, program.ranks) != kind_of(first[i], 0, program.ranks)) return std::nullopt;
        sums[i] += list[i].bytes.count();
      }
    }
    for (int rank = 0; rank < ranks; ++rank) {
      std::vector<Step>& list = out.steps(rank, channel);
      for (std::size_t i = 0; i < list.size(); ++i) {
        Step& s = list[i];
        const auto from = stood_for(s.from, rank, ranks);
        const auto to = stood_for(s.to, rank, ranks);
        if (!from || !to) return std::nullopt;
        s.from = *from;
        s.to = *to;
        s.bytes = sim::Bytes{round_up((sums[i] + program.ranks - 1) / program.ranks, kVector)};
        for (sim::Bytes* offset : {&s.input_offset, &s.held_offset, &s.output_offset})
          *offset = sim::max(sim::min(*offset, program.bytes - s.bytes), {});
      }
    }
  }
  return out;
}

}  // namespace infold::coll
