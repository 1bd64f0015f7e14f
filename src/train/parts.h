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

/// Divides the repetitions of a model's outermost 'repeat's among the parts, as evenly as possible. The
/// layers before the first repetition belong to the first part, those behind the last one to the last part. A
/// parameter that two parts use (a tied embedding) is in both. Refuses a model with fewer repetitions than
/// parts, and one whose parts are joined by more than one value.
sim::Result<std::vector<ModelPart>> cut_into_parts(const Graph& model, int parts);

/// The model's parameters that are in several parts.
std::vector<ParameterId> shared_parameters(const std::vector<ModelPart>& parts);

}  // namespace infold::train
