// Finds a cycle in a directed graph, if there is one: the search behind every proof of deadlock freedom.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::net {

/// The nodes of a cycle in order, or none where there is no cycle; fails where `go_on` says no.
/// Nodes are 0 .. nodes-1. `Visit` says how far the search has come with one node: it is made of a node,
/// which it keeps as `node`. `next(visit)` returns the next successor of that node, or nothing after the
/// last. The search is depth first with a stack of its own, because a path may be as long as there are nodes.
template <class Visit, class Next>
sim::Result<std::vector<std::uint32_t>> find_cycle(std::size_t nodes, Next&& next,
                                                   const sim::GoOn& go_on = {}) {
  constexpr std::size_t kStartsPerLook = 256;  // searches between two looks at the user
  enum class Colour : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Colour> colour(nodes, Colour::kNew);
  std::vector<Visit> path;
  const auto enter = [&](std::uint32_t node) {
    colour[node] = Colour::kOnPath;
    path.push_back(Visit{node});
  };
  for (std::size_t start = 0; start < nodes; ++start) {
    if (colour[start] != Colour::kNew) continue;
    if (start % kStartsPerLook == 0 && sim::asked_to_stop(go_on)) return sim::interrupted();
    enter(static_cast<std::uint32_t>(start));
    while (!path.empty()) {
      const std::optional<std::uint32_t> to = next(path.back());
      if (!to) {
        colour[path.back().node] = Colour::kDone;
        path.pop_back();
      } else if (colour[*to] == Colour::kOnPath) {
        std::vector<std::uint32_t> cycle;
        auto at = std::find_if(path.begin(), path.end(), [&](const Visit& v) { return v.node == *to; });
        for (; at != path.end(); ++at) cycle.push_back(at->node);
        return cycle;
      } else if (colour[*to] == Colour::kNew) {
        enter(*to);
      }
    }
  }
  return std::vector<std::uint32_t>{};
}

}  // namespace infold::net
