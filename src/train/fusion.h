// Which operations become one kernel.
#pragma once

#include <vector>

#include "train/graph.h"
#include "train/recipe.h"

namespace infold::train {

/// Works on each element by itself, or on each position or channel: what a streaming kernel does.
bool is_pointwise(const Operation& op);
bool is_norm(const Operation& op);

/// All operations, in order; those of one group are one kernel. Without fusion each is alone.
/// With it a run of pointwise operations is one, if nothing else needs what lies between them, it has at most
/// one normalisation, and one over the batch comes first (it has to read everything once before).
std::vector<std::vector<int>> fuse(const Graph& graph, Fusion fusion);

}  // namespace infold::train
