// Examines what is left when no slice can be carried out any more: channels that wait for ever, and data that
// are never received.
#include <fmt/format.h>

#include <algorithm>

#include "coll/program/symbolic_run.h"

namespace infold::coll {

/// What the channel waits for. If ranks meet, each waits for those that have not come.
std::optional<Wait> SymbolicRun::waits(const Channel& c) const {
  if (c.steps.step().net == NetOp::kMeet) {
    for (int rank = 0; rank < program_.ranks; ++rank) {
      if (channels_[index_of(rank, c.channel)].steps.index() < c.steps.index())
        return Wait{Wait::What::kData, rank};
    }
  }
  return c.steps.waits<Backend>();
}

/// Which channel cannot go on, and why: a counterpart is missing, or channels wait in a circle.
std::optional<Flaw> SymbolicRun::stuck() const {
  for (const Channel& start : channels_) {
    if (start.steps.at_end()) continue;
    std::vector<const Channel*> seen;
    for (const Channel* at = &start;;) {
      const Wait wait = *waits(*at);
      const Channel& next = channels_[index_of(wait.rank, at->channel)];
      if (next.steps.at_end()) {
        return flaw(*at, wait.what == Wait::What::kData
                             ? fmt::format("receives from rank {}, which sends it nothing more", wait.rank)
                             : fmt::format("sends to rank {}, which takes nothing more and whose buffer "
                                           "is full",
                                           wait.rank));
      }
      seen.push_back(at);
      const auto again = std::find(seen.begin(), seen.end(), &next);
      if (again != seen.end()) return circle({again, seen.end()});
      at = &next;
    }
  }
  return std::nullopt;
}

Flaw SymbolicRun::circle(const std::vector<const Channel*>& channels) const {
  constexpr std::size_t kMost = 6;
  std::string what = "cyclic wait";
  for (std::size_t i = 0; i < channels.size() && i < kMost; ++i) {
    const Channel& c = *channels[i];
    const Wait wait = *waits(c);
    what += fmt::format(
        "{} rank {} step {} waits for rank {} to {}", i == 0 ? ":" : ",", c.rank, c.steps.index() + 1,
        wait.rank,
        wait.what == Wait::What::kData ? "send" : fmt::format("free one of its {} buffer slots", slots_));
  }
  if (channels.size() > kMost) what += fmt::format(", and so on round {} ranks", channels.size());
  return flaw(*channels.front(), std::move(what));
}

std::optional<Flaw> SymbolicRun::left_over() const {
  for (const std::uint32_t index : wiring_.by_ends()) {
    const SymbolicConnection& c = connections_[index];
    if (!c.has_data()) continue;
    return Flaw{c.from, wiring_.connections()[index].channel,
                static_cast<int>(c.slots[c.taken % slots_].step),
                fmt::format("sends to rank {} what that never receives", c.to)};
  }
  return std::nullopt;
}

}  // namespace infold::coll
