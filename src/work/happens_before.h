// Which operations of all ranks come before which, whatever the timing: by the order of streams, by what
// waits for what, and by meeting in a collective.
#pragma once

#include <cstdint>
#include <vector>

#include "work/check.h"

namespace infold::work {

/// The members of the rank's group in the communicator of an operation; the rank alone where it has none.
std::vector<int> who_meets(const Graph& graph, const Turn& turn);

class HappensBefore {
 public:
  /// `order` is that of order_of(graph). Memory and time grow with the square of what all ranks run.
  HappensBefore(const Graph& graph, const std::vector<Turn>& order);

  /// Requires: the rank runs the operation.
  std::size_t node(const Turn& t) const {
    const auto rank = static_cast<std::size_t>(t.rank);
    return first_[rank] + place_[script_of_[rank]][static_cast<std::size_t>(t.op)];
  }
  bool operator()(std::size_t first, std::size_t then) const {
    return ((bits_[then * words_ + first / 64] >> (first % 64)) & 1) != 0;
  }

 private:
  /// Notes that all that is before `first`, and `first` itself, is before `then`.
  void add(std::size_t first, std::size_t then);
  /// Notes that all that is before either operation is before both.
  void join(std::size_t a, std::size_t b);

  // Only what a rank runs has a node: scripts share the list of operations.
  std::vector<std::size_t> script_of_;           // by rank
  std::vector<std::size_t> first_;               // by rank: its first node
  std::vector<std::vector<std::size_t>> place_;  // by script and operation: which of the rank's nodes it is
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;
};

}  // namespace infold::work
