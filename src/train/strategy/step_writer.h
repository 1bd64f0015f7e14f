// What the data-parallel strategies have in common: one script for all ranks, whose compute runs the plan,
// and one communicator of all.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "train/strategy/strategies.h"

namespace infold::train {

/// Gradients that are reduced by one collective.
struct Bucket {
  std::vector<int> parameters = {};  ///< in their order within the bucket
  sim::Bytes bytes = {};
  int gradients = 0;  ///< that must be there before it may be reduced, in the order of Plan::ready
};

class StepWriter {
 public:
  /// Adds the plan's operations, in no stream yet.
  StepWriter(const Plan& plan, int ranks);

  work::Stream& compute() { return stream(0); }
  work::Stream& communication() { return stream(1); }
  /// The stream of copies beside compute, and its number.
  static constexpr int kCopies = 2;
  static constexpr int kHost = 3;
  work::Stream& copies() { return stream(kCopies); }
  work::Stream& host() { return stream(kHost); }
  work::Graph& graph() & { return graph_; }
  work::Graph graph() && { return std::move(graph_); }

  /// Forward and backward in the stream of compute. Behind each gradient come what `copy` says, and a marker
  /// where `marked` has one; last the marker of backward's end, which is returned.
  work::OpId run_passes(const std::vector<std::optional<work::OpId>>& copy,
                        const std::vector<std::optional<work::OpId>>& marked);
  /// A marker in no stream yet.
  work::OpId marker();
  /// The optimizer, when all of these have ended.
  void update_after(std::vector<work::OpId> done);
  /// The all-reduce of a bucket, behind those before it.
  work::OpId reduce(const Bucket& bucket, std::vector<work::OpId> after);

 private:
  work::Stream& stream(std::size_t s) { return graph_.scripts.front().streams[s]; }

  const Plan& plan_;
  work::Graph graph_;
};

/// The step of a strategy whose buckets do not depend on time. `copied`: by one kernel each, beside compute.
StepGraph write_buckets(const StepRequest& request, const std::vector<Bucket>& buckets, bool copied);

}  // namespace infold::train
