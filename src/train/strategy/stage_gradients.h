// Brings the gradients of a pipeline's stage together: buckets over replicas, and what other stages hold as
// well.
#pragma once

#include <map>
#include <vector>

#include "train/strategy/pass_writer.h"
#include "train/strategy/pipeline.h"
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
  std::map<ParameterId, std::vector<work::OpId>> complete_;  // of the model: what completes it on this stage
};

}  // namespace infold::train
