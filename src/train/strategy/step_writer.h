// What the data-parallel strategies have in common: one script for all ranks, whose compute runs the plan,
// and the communicator of those that hold the same parameters. Communication that the plan itself has is in
// streams of its own.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/strategy/pass_writer.h"
#include "train/strategy/strategies.h"

namespace infold::train {

/// Gradients that are reduced by one collective.
struct Bucket {
  std::vector<int> parameters = {};  ///< in their order within the bucket
  sim::Bytes bytes = {};
  int gradients = 0;  ///< how many, in the order of Plan::ready, must be there before it may be reduced
  Axis axis = Axis::kReplica;
};

class StepWriter {
 public:
  /// Adds the plan's operations, in no stream yet.
  StepWriter(const Plan& plan, const Layout& layout);
  StepWriter(const StepWriter&) = delete;
  StepWriter& operator=(const StepWriter&) = delete;
  ~StepWriter() = default;

  work::Stream& compute() { return stream(0); }
  /// The stream of copies beside compute, and its number.
  static constexpr int kCopies = 2;
  static constexpr int kHost = 3;
  work::Stream& copies() { return stream(kCopies); }
  work::Stream& host() { return stream(kHost); }
  work::Graph& graph() & { return graph_; }
  work::Graph graph() && { return std::move(graph_); }

  /// The communicator with this name, which is added with its stream when it is first asked for.
  work::CommunicatorId communicator(const std::string& name, const std::vector<std::vector<int>>& groups);
  /// The communicator of the ranks that hold the same part of a parameter.
  work::CommunicatorId replicas(Axis axis);
  /// Adds a collective at the end of its communicator's stream.
  work::OpId communicate(work::Collective what, std::string name, std::vector<work::OpId> after);

  /// Adds for a pass before the last what an op of the plan does in the last, in no stream yet.
  work::OpId again(int op, int pass);
  /// Appends forward and backward to the streams that they belong to. In that of compute, each gradient is
  /// followed by what `copy` says, and by a marker where `marked` has one. The last is the marker of
  /// backward's end, which is returned.
  work::OpId run_passes(const std::vector<std::optional<work::OpId>>& copy,
                        const std::vector<std::optional<work::OpId>>& marked);
  /// Appends an op of the plan to its stream.
  void put(int op) { pass_.put(op); }
  /// Adds a marker, in no stream yet.
  work::OpId marker();
  /// Appends the optimizer, which runs when all of these have ended.
  void update_after(std::vector<work::OpId> done);
  /// Appends the all-reduce of a bucket behind those before it.
  work::OpId reduce(const Bucket& bucket, std::vector<work::OpId> after);

 private:
  work::Stream& stream(std::size_t s) { return graph_.scripts.front().streams[s]; }

  const Plan& plan_;
  work::Graph graph_;
  AxisStreams axes_;
  PassWriter pass_;
  Layout layout_;
  std::map<std::string, work::CommunicatorId> communicators_;
  int buckets_ = 0;
};

/// Writes the step of a strategy whose buckets do not depend on time. If `copied`, one kernel copies each
/// bucket beside compute.
StepGraph write_buckets(const StepRequest& request, const std::vector<Bucket>& buckets, bool copied);

}  // namespace infold::train
