// A search for a cycle among things that wait for each other. The proofs that a fabric cannot block itself
// describe who waits for whom, and share this search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/go_on.h"
#include "sim/result.h"

namespace infold::net {

/// How far the search has come with the successors of one vertex; the graph counts in it as it likes.
struct CycleVisit {
  std::uint32_t vertex;
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
};

/// The vertices of a cycle in order, the first of which follows the last; empty if there is none. `next`
/// moves a visit on to the next successor of its vertex, adds the steps that it took, and returns the
/// successor, or nothing behind the last. Fails where `patience` ends. Depth first with a stack of its own: a
/// path may be as long as there are vertices.
template <class Next>
sim::Result<std::vector<std::uint32_t>> find_cycle(std::size_t vertices, Next&& next,
                                                   sim::Patience& patience) {
  enum class Colour : std::uint8_t { kNew, kOnPath, kDone };
  std::vector<Colour> colour(vertices, Colour::kNew);
  std::vector<CycleVisit> path;
  for (std::size_t start = 0; start < vertices; ++start) {
    if (colour[start] != Colour::kNew) continue;
    path.push_back({static_cast<std::uint32_t>(start)});
    colour[start] = Colour::kOnPath;
    while (!path.empty()) {
      std::int64_t steps = 1;
      const std::optional<std::uint32_t> found = next(path.back(), steps);
      if (patience.ended_after(steps)) return sim::interrupted();
      if (!found) {
        colour[path.back().vertex] = Colour::kDone;
        path.pop_back();
      } else if (colour[*found] == Colour::kOnPath) {
        std::size_t from = 0;
        while (path[from].vertex != *found) ++from;
        std::vector<std::uint32_t> cycle;
        for (; from < path.size(); ++from) cycle.push_back(path[from].vertex);
        return cycle;
      } else if (colour[*found] == Colour::kNew) {
        colour[*found] = Colour::kOnPath;
        path.push_back({*found});
      }
    }
  }
  return std::vector<std::uint32_t>{};
}

}  // namespace infold::net
