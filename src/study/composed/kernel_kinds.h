// Which kernels of a graph are alike: the same shape, and caches that hold as much of what it touches. Each
// kind is simulated once, in a window of the stream that it comes from, behind kernels that warm the caches.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/units.h"
#include "work/graph.h"

namespace infold::study::composed {

/// A run of operations with kernels, in the order of a stream.
struct Window {
  std::vector<work::OpId> ops = {};
  std::vector<int> kinds = {};    ///< by operation
  std::vector<bool> wanted = {};  ///< by operation: the others only warm the caches
  auto operator<=>(const Window&) const = default;
};

class KernelKinds {
 public:
  /// The graph must outlive it. `cache`: the size of a GPU's L2.
  KernelKinds(const work::Graph& graph, sim::Bytes cache);

  /// The kind of an operation; -1 where it has no kernels.
  int of(work::OpId op) const { return kind_[static_cast<std::size_t>(op)]; }
  int count() const { return static_cast<int>(first_.size()); }
  /// The fewest operations that show each of these kinds once, in windows that do not touch each other.
  std::vector<Window> windows(const std::set<int>& kinds) const;

 private:
  /// Where a kind comes up first.
  struct Place {
    std::size_t stream = 0;
    std::size_t position = 0;
  };
  void number(std::size_t stream);
  std::int64_t bytes_of(work::OpId op) const;

  const work::Graph& graph_;
  std::int64_t cache_;
  std::vector<std::vector<work::OpId>> streams_;  // operations with kernels, of every stream that has any
  std::vector<bool> beside_;                      // by stream: what runs before is not known
  std::vector<int> kind_;                         // by operation
  std::map<std::string, int> known_;
  std::vector<Place> first_;  // by kind
};

}  // namespace infold::study::composed
