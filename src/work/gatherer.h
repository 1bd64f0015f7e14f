// The decisions of a Gather: which parts are reduced together. It knows sizes and times, and nothing of GPUs.
#pragma once

#include <optional>
#include <vector>

#include "sim/units.h"
#include "work/graph.h"

namespace infold::work {

/// Parts that are reduced by one collective, in the order in which they came.
struct Gathered {
  std::vector<int> parts;
  sim::Bytes bytes;
};

class Gatherer {
 public:
  /// `gather` must outlive it.
  explicit Gatherer(const Gather& gather) : gather_(gather) {}

  /// A part is there on all ranks.
  void arrived(int part, sim::Time now);
  /// When the hosts look next, if they do.
  std::optional<sim::Time> wants_waking() const {
    return waiting_.empty() ? std::nullopt : std::optional(tick_);
  }
  /// The hosts look: the result is what is to be reduced, in this order.
  std::vector<Gathered> wake();

 private:
  const Gather& gather_;
  std::vector<int> waiting_;
  sim::Time tick_;
};

}  // namespace infold::work
