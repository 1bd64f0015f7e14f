// Groups of regular ranks (first, stride, number) are repeated for the ranks that have no trace.
#include "formats/trace/trace_groups.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

namespace infold::formats {

namespace {

/// Ranks `first`, `first + stride`, and so on.
struct Regular {
  int first = 0;
  int stride = 1;
  int size = 1;
};

std::optional<Regular> regular(const std::vector<int>& ranks) {
  Regular r{.first = ranks.front(), .stride = 1, .size = static_cast<int>(ranks.size())};
  if (ranks.size() > 1) r.stride = ranks[1] - ranks[0];
  if (r.stride < 1) return std::nullopt;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (ranks[i] != r.first + static_cast<int>(i) * r.stride) return std::nullopt;
  }
  return r;
}

/// The group like this one that a rank is in, where groups divide all ranks evenly.
std::optional<std::vector<int>> like(const std::vector<int>& group, int rank, int world) {
  if (std::ranges::find(group, rank) != group.end()) return group;
  const auto r = regular(group);
  if (!r) return std::nullopt;
  const int block = r->stride * r->size;
  if (world % block != 0 || r->first % block >= r->stride) return std::nullopt;
  const int first = rank / block * block + rank % block % r->stride;
  std::vector<int> made;
  made.reserve(static_cast<std::size_t>(r->size));
  for (int i = 0; i < r->size; ++i) made.push_back(first + i * r->stride);
  return made;
}

/// Two groups with one key are the same group of different ranks.
std::string key_of(const TraceGroup& group, const std::vector<int>& ranks) {
  const auto r = regular(ranks);
  if (!r) return fmt::format("{}|{}", group.about, fmt::join(ranks, ","));
  return fmt::format("{}|{}x{}", group.about, r->size, r->size > 1 ? r->stride : 0);
}

std::string name_of_group(const TraceGroup& group) {
  if (!group.about.empty() && group.about != "undefined") return group.about;
  return group.name.empty() ? "world" : fmt::format("group {}", group.name);
}

}  // namespace

int TraceWorld::seen_by(int rank, int named) const {
  const int world = ranks();
  return ((named + rank - trace(rank).rank) % world + world) % world;
}

std::string TraceCommunicators::unique(std::string name) {
  const int n = names_[name]++;
  return n == 0 ? name : fmt::format("{} ({})", name, n + 1);
}

sim::Status TraceCommunicators::add(const TraceWorld& world, int rank) {
  const RankTrace& trace = world.trace(rank);
  auto& of_group = of_group_[static_cast<std::size_t>(rank)];
  auto& members = members_[static_cast<std::size_t>(rank)];
  std::map<std::string, int> seen;
  for (const TraceGroup& group : trace.groups) {
    std::vector<int> ranks = group.ranks;
    if (ranks.empty()) {
      ranks.resize(static_cast<std::size_t>(world.ranks()));
      std::iota(ranks.begin(), ranks.end(), 0);
    }
    if (std::ranges::any_of(ranks, [&](int r) { return r < 0 || r >= world.ranks(); }))
      return sim::fail(
          fmt::format("group {} of rank {} names a rank that there is not", group.name, trace.rank));
    auto mine = like(ranks, rank, world.ranks());
    if (!mine) {
      return sim::fail(
          fmt::format("group {} of rank {} ({}) cannot be repeated for rank {}, of which there is no trace",
                      group.name, trace.rank, fmt::join(ranks, ", "), rank));
    }
    members.push_back(*mine);
    if (mine->size() < 2) {
      of_group.push_back(-1);
      continue;
    }
    std::string key = key_of(group, *mine);
    key += fmt::format("|{}", seen[key]++);
    for (;; key += "+") {
      const auto [at, is_new] = by_key_.try_emplace(key, static_cast<int>(all_.size()));
      if (is_new) all_.push_back({.name = unique(name_of_group(group)), .groups = {}});
      auto& groups = all_[static_cast<std::size_t>(at->second)].groups;
      if (std::ranges::find(groups, *mine) == groups.end()) {
        const auto taken = [&](const std::vector<int>& other) {
          return std::ranges::any_of(other,
                                     [&](int r) { return std::ranges::find(*mine, r) != mine->end(); });
        };
        if (std::ranges::any_of(groups, taken)) continue;  // a group of other ranks under the same key
        groups.push_back(*mine);
      }
      of_group.push_back(at->second);
      break;
    }
  }
  return {};
}

sim::Result<TraceCommunicators> TraceCommunicators::make(const TraceWorld& world) {
  TraceCommunicators made;
  made.of_group_.resize(static_cast<std::size_t>(world.ranks()));
  made.members_.resize(static_cast<std::size_t>(world.ranks()));
  for (int r = 0; r < world.ranks(); ++r) {
    if (auto added = made.add(world, r); !added) return sim::fail_as(std::move(added));
  }
  for (work::Communicator& c : made.all_) std::ranges::sort(c.groups);
  return made;
}

work::CommunicatorId TraceCommunicators::from_to(int from, int to, std::int64_t tag) {
  const auto [at, is_new] = pairs_.try_emplace({from, to, tag}, static_cast<int>(all_.size()));
  if (is_new)
    all_.push_back({.name = fmt::format("{} to {}{}", from, to, tag == 0 ? "" : fmt::format(" tag {}", tag)),
                    .groups = {{from, to}}});
  return at->second;
}

}  // namespace infold::formats
