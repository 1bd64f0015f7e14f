// The checker of strategies: follows gradients, weights and activations of a step through its graph, without
// numbers and without time.
#pragma once

#include <optional>
#include <vector>

#include "sim/result.h"
#include "work/graph.h"

namespace infold::work {

/// What a step must do with a parameter.
struct ParameterRule {
  /// Groups of ranks that hold the same part of the parameter: a rank updates it from the sum over its group.
  /// A rank in no group does not have it.
  std::vector<std::vector<int>> replicas;
  /// Groups of ranks that each keep one shard of its weights, which kernels find gathered. A rank in no group
  /// keeps them all.
  std::vector<std::vector<int>> shards = {};
};

struct StepRules {
  std::vector<ParameterRule> parameters;
  int passes = 1;  ///< passes whose gradients are added up
  /// Passing tensors that are there before the step. If not given, they are those that no operation writes.
  std::optional<std::vector<TensorId>> given = {};
  /// Passing tensors in which kernels leave a part of a sum, and which are reduced in place before others
  /// read them.
  std::vector<TensorId> partial = {};
  /// Tensors that communication leaves on every rank of a script in the end, though no kernel reads them.
  struct Result {
    TensorId tensor = 0;
    int script = 0;
  };
  std::vector<Result> results = {};
};

/// Checks a step and refuses it for the first thing that is wrong. A step that is not refused is proved so:
/// - every rank updates its shard of every parameter once, from the sum of its replicas' gradients in all
///   passes, and every rank that keeps whole weights has the new ones in the end;
/// - every weight that a kernel reads is there, gathered and not freed, and not updated yet;
/// - every activation that a kernel reads or a rank sends was made or received before, for the same
///   micro-batch; what communication brings is read;
/// - ranks that meet mean the same: the same message, gradients and weights;
/// - nothing is read or written while another may write it, whatever the timing.
/// Requires: check(graph).
sim::Status check_step(const Graph& graph, const StepRules& rules);
/// The rules of a step in which all ranks hold all parameters, with one pass.
sim::Status check_step(const Graph& graph, int parameters);

}  // namespace infold::work
