// Brings the gradients of a pipeline's stage together: buckets over replicas, and what other stages hold as
// well. With ZeRO-1 every replica gets its shard of a bucket, updates that, and the weights are gathered
// again.
#pragma once

#include <map>
#include <vector>

#include "train/strategy/pass_writer.h"
#include "train/strategy/pipeline.h"
#include "train/strategy/sharding.h"
#include "train/strategy/shared_parameters.h"
#include "train/strategy/stage_links.h"

namespace infold::train {

/// What the writers of all stages share.
struct StepParts {
  const PipelineRequest& request;
  work::Graph& graph;
  AxisStreams axes;
  StageLinks links;
  SharedParameters shared;
};

class StageGradients {
 public:
  StageGradients(StepParts& step, int stage) : step_(step), stage_(stage) {}

  /// Notes that operation `op` of the last micro-batch completes the gradient of a part's parameter.
  void ready(int part, ParameterId p, work::OpId op) { ready_[part].push_back({op, p}); }
  /// Reduces the gradients of a part, all of which are ready, in buckets, each as soon as its last one is
  /// there.
  void reduce(int part);
  /// Reduces what is left when backward has ended. Returns all that an update waits for.
  std::vector<work::OpId> reduce_rest(work::OpId backward_ended);
  /// Whether replicas update shards, so that weights are gathered afterwards.
  bool sharded() const { return sharding_of(step_.request.sync.kind) == Sharding::kOptimizer; }
  /// Gathers the weights of every bucket that was sharded. Returns all of it.
  std::vector<work::OpId> gather(work::OpId updated);

 private:
  struct Ready {
    work::OpId op = 0;
    ParameterId parameter = 0;  // its number in the part
    auto operator<=>(const Ready&) const = default;
  };
  struct Bucket {
    Axis axis = Axis::kReplica;
    sim::Bytes bytes = {};
    std::vector<int> parameters = {};  // their numbers in the model
    std::vector<work::OpId> ready = {};
  };
  /// What was reduce-scattered.
  struct Shards {
    Axis axis = Axis::kReplica;
    std::int64_t elements = 0;
    std::vector<int> parameters = {};
  };
  int gradient_bytes() const { return step_.request.plan.plans.front().recipe.gradient_bytes(); }
  /// Among how many ranks a gradient of this axis is divided.
  int shards_of(Axis axis) const { return sharded() ? size_of(step_.request.layout, axis) : 1; }
  bool is_full(const Bucket& open) const;
  bool is_shared(int part, ParameterId p) const;
  const ModelPart& part(int i) const { return step_.request.plan.parts[static_cast<std::size_t>(i)]; }
  sim::Bytes bytes_of(int part, ParameterId p) const;
  void close(Bucket& open);
  void reduce(const Bucket& bucket, std::vector<work::OpId> after);
  void reduce_shared(ParameterId p);

  StepParts& step_;
  int stage_;
  std::map<int, std::vector<Ready>> ready_;  // by part
  std::vector<Bucket> held_back_;            // they wait until backward has ended
  std::vector<work::OpId> reduced_;
  std::vector<Shards> scattered_;
  std::map<ParameterId, std::vector<work::OpId>> complete_;  // of the model: what completes it on this stage
};

}  // namespace infold::train
