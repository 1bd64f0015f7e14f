// Parameters that several stages of a pipeline hold, such as a tied embedding, and the communicators of these
// stages.
#pragma once

#include <map>
#include <vector>

#include "train/layout.h"
#include "train/parts.h"
#include "work/graph.h"

namespace infold::train {

class SharedParameters {
 public:
  /// Part g is on stage g % layout.pp. The graph must outlive this object.
  SharedParameters(work::Graph& graph, const std::vector<ModelPart>& parts, const Layout& layout);

  /// The shared parameters of a stage, in order.
  std::vector<ParameterId> of(int stage) const;
  /// The communicator of the stages that hold a parameter, and its stream in a stage's script.
  work::CommunicatorId communicator(ParameterId p);
  work::Stream& stream(int stage, ParameterId p);

 private:
  work::Graph& graph_;
  Layout layout_;
  std::map<ParameterId, std::vector<int>> stages_;
  std::map<std::vector<int>, work::CommunicatorId> communicators_;
};

}  // namespace infold::train
