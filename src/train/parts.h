// Cuts a model into the parts that stages of a pipeline hold.
#pragma once

#include <vector>

#include "sim/result.h"
#include "train/graph.h"

namespace infold::train {

/// A part of a model, as a graph of its own.
struct ModelPart {
  Graph graph;
  std::vector<ParameterId> parameters;  ///< by parameter of the part: the model's
};

/// The repetitions of a model's outermost 'repeat's divided evenly, as far as they come out; what is before
/// the first belongs to the first part, what is behind the last to the last. A parameter that two parts use
/// (a tied embedding) is in both. Refuses a model with fewer repetitions than parts, and one whose parts are
/// joined by more than one value.
sim::Result<std::vector<ModelPart>> cut_into_parts(const Graph& model, int parts);

/// The model's parameters that are in several parts.
std::vector<ParameterId> shared_parameters(const std::vector<ModelPart>& parts);

}  // namespace infold::train
