// One training step as a list of kernels, described by what they compute and which tensors they touch. It is
// a plain value that involves no GPU yet.
#pragma once

#include <cstdint>
#include <vector>

#include "train/graph.h"
#include "train/recipe.h"
#include "work/kernel.h"

namespace infold::train {

using work::Attend;
using work::Computation;
using work::Convolve;
using work::MatMul;
using work::ProductSize;
using work::Streaming;
using work::TensorId;
using work::TensorSpec;

enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer };

struct Op {
  Phase phase = Phase::kForward;
  int operation = -1;  ///< operation of the graph; -1: all operations
  bool again = false;  ///< it is part of the forward pass, recomputed in backward
  Computation work;
};

/// After op `op` of the plan the gradient of `parameter` is complete.
struct GradientReady {
  ParameterId parameter = 0;
  int op = 0;
};

struct Plan {
  Recipe recipe;
  std::vector<TensorSpec> tensors;
  std::vector<Op> ops;               ///< in the order in which they are launched
  std::vector<GradientReady> ready;  ///< in the order of their ops; every parameter once
  std::vector<std::int64_t> parameter_elements;
  std::vector<TensorId> gradients;  ///< by parameter

  /// The number of ops before the first op of a phase.
  int first_op(Phase phase) const;
};

inline ProductSize size_of(const Plan& plan, const MatMul& product) {
  return work::size_of(plan.tensors, product);
}
inline double flops_of(const Plan& plan, const MatMul& product) {
  return work::flops_of(plan.tensors, product);
}

Plan make_plan(const Graph& graph, const Recipe& recipe);

/// The tensors that an op reads, and those it writes.
inline std::vector<TensorId> reads_of(const Op& op) {
  return work::touched(op.work).reads;
}
inline std::vector<TensorId> writes_of(const Op& op) {
  return work::touched(op.work).writes;
}

}  // namespace infold::train
