// Which operations become one kernel.
#pragma once

#include <vector>

#include "train/graph.h"
#include "train/recipe.h"

namespace infold::train {

/// Whether an operation works on each element by itself, or on each position or channel, as a streaming
/// kernel does.
bool is_pointwise(const Operation& op);
bool is_norm(const Operation& op);

/// All operations in order, in groups; the operations of one group become one kernel. Without fusion each
/// operation is a group. With fusion, a run of pointwise operations is one group if no other operation needs
/// the values in between, if it has at most one normalisation, and if a normalisation over the batch comes
/// first (it has to read everything once before). A join whose body ended before the shortcut began takes the
/// body's last run with it, behind the shortcut. No group reaches beyond a repetition where these are
/// `apart`.
std::vector<std::vector<int>> fuse(const Graph& graph, Fusion fusion, bool apart = false);

}  // namespace infold::train
