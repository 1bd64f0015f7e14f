// Sets of ranks, runs of bytes, and memory made of them.
#include "coll/program/contributions.h"

#include <algorithm>
#include <bit>

namespace infold::coll {

RankSets::Id RankSets::intern(Bits bits) {
  const auto [place, added] = known_.try_emplace(bits, static_cast<Id>(sets_.size()));
  if (added) sets_.push_back(std::move(bits));
  return place->second;
}

RankSets::Id RankSets::only(int rank) {
  Bits bits(words_);
  bits[static_cast<std::size_t>(rank) / 64] = std::uint64_t{1} << (rank % 64);
  return intern(std::move(bits));
}

RankSets::Id RankSets::all(int ranks) {
  Bits bits(words_);
  for (int r = 0; r < ranks; ++r) bits[static_cast<std::size_t>(r) / 64] |= std::uint64_t{1} << (r % 64);
  return intern(std::move(bits));
}

RankSets::Id RankSets::unite(Id a, Id b) {
  if (a == b) return a;
  const auto key = std::minmax(a, b);
  const auto found = unions_.find(key);
  if (found != unions_.end()) return found->second;
  Bits bits = sets_[a];
  for (std::size_t i = 0; i < words_; ++i) bits[i] |= sets_[b][i];
  return unions_[key] = intern(std::move(bits));
}

bool RankSets::overlap(Id a, Id b) const {
  return first_of_both(a, b) >= 0;
}

bool RankSets::contains(Id set, int rank) const {
  return (sets_[set][static_cast<std::size_t>(rank) / 64] >> (rank % 64) & 1) != 0;
}

int RankSets::first_of_both(Id a, Id b) const {
  for (std::size_t i = 0; i < words_; ++i) {
    if (const std::uint64_t bits = sets_[a][i] & sets_[b][i]; bits != 0)
      return static_cast<int>(i) * 64 + std::countr_zero(bits);
  }
  return -1;
}

int RankSets::first_missing(Id a, Id b) const {
  for (std::size_t i = 0; i < words_; ++i) {
    if (const std::uint64_t bits = sets_[a][i] & ~sets_[b][i]; bits != 0)
      return static_cast<int>(i) * 64 + std::countr_zero(bits);
  }
  return -1;
}

void append(Runs& runs, const Run& run) {
  if (!runs.empty() && runs.back().goes_on_as(run)) {
    runs.back().bytes += run.bytes;
  } else {
    runs.push_back(run);
  }
}

std::optional<FoldFlaw> fold_runs(RankSets& sets, Runs& into, const Runs& with) {
  Runs out;
  std::size_t a = 0;
  std::size_t b = 0;
  std::int64_t in_a = 0;  // bytes of the present run that are done
  std::int64_t in_b = 0;
  while (a < into.size()) {
    const std::int64_t n = std::min(into[a].bytes - in_a, with[b].bytes - in_b);
    Run one = into[a].cut(in_a, n);
    const Run other = with[b].cut(in_b, n);
    if (one.place != other.place) return FoldFlaw{FoldFlaw::kPlaces, one, other};
    if (one.finished || other.finished) return FoldFlaw{FoldFlaw::kFinished, one, other};
    if (sets.overlap(one.who, other.who)) return FoldFlaw{FoldFlaw::kTwice, one, other};
    one.who = sets.unite(one.who, other.who);
    append(out, one);
    if ((in_a += n) == into[a].bytes) ++a, in_a = 0;
    if ((in_b += n) == with[b].bytes) ++b, in_b = 0;
  }
  into = std::move(out);
  return std::nullopt;
}

void Memory::write(std::int64_t at, const Runs& runs, int channel) {
  for (const Run& run : runs) {
    clear(at, run.bytes);
    // The new cell is joined with the one before it, so that memory has few cells however small the steps
    // are.
    auto next = cells_.lower_bound(at);
    if (next != cells_.begin()) {
      auto& [begin, before] = *std::prev(next);
      if (begin + before.run.bytes == at && before.channel == channel && before.run.goes_on_as(run)) {
        before.run.bytes += run.bytes;
        at += run.bytes;
        continue;
      }
    }
    cells_.insert(next, {at, {run, channel}});
    at += run.bytes;
  }
}

/// Cuts cells at both ends of the range and removes those within.
void Memory::clear(std::int64_t at, std::int64_t bytes) {
  const auto split = [&](std::int64_t where) {
    auto next = cells_.lower_bound(where);
    if (next == cells_.begin() || (next != cells_.end() && next->first == where)) return next;
    auto& [begin, cell] = *std::prev(next);
    const std::int64_t first = where - begin;
    if (first >= cell.run.bytes) return next;
    const Cell rest{cell.run.cut(first, cell.run.bytes - first), cell.channel};
    cell.run.bytes = first;
    return cells_.insert(next, {where, rest});
  };
  split(at);
  const auto end = split(at + bytes);
  cells_.erase(cells_.lower_bound(at), end);
}

std::int64_t Memory::first_written(std::int64_t at, std::int64_t bytes) const {
  const auto next = cells_.lower_bound(at);
  if (next != cells_.begin()) {
    const auto& [begin, cell] = *std::prev(next);
    if (begin + cell.run.bytes > at) return at;
  }
  return next != cells_.end() && next->first < at + bytes ? next->first : -1;
}

std::optional<Memory::Cell> Memory::read(std::int64_t at, std::int64_t bytes) const {
  const auto next = cells_.upper_bound(at);
  if (next == cells_.begin()) return std::nullopt;
  const auto& [begin, cell] = *std::prev(next);
  const std::int64_t skip = at - begin;
  if (skip >= cell.run.bytes) return std::nullopt;
  return Cell{cell.run.cut(skip, std::min(bytes, cell.run.bytes - skip)), cell.channel};
}

}  // namespace infold::coll
