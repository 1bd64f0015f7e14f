// One training step of a rank as a list of kernels, described by what they compute and which tensors they
// touch, and of what it exchanges with ranks that share its layers. It is a plain value that involves no GPU
// yet.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "coll/program/collective.h"
#include "train/graph.h"
#include "train/layout.h"
#include "train/recipe.h"
#include "train/split.h"
#include "work/graph.h"
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

/// The ranks of a group exchange a tensor. `in` and `out` are what this rank gives and what it gets; their
/// sizes are those of coll::buffer_sizes. They may be the same tensor where the collective is in place.
struct Communicate {
  Axis axis = Axis::kTensor;
  coll::Collective what = coll::Collective::kAllReduce;
  TensorId in = 0;
  TensorId out = 0;
  work::Collective::Tokens tokens = {};  ///< of dispatch and combine
};

struct Op {
  Phase phase = Phase::kForward;
  int operation = -1;  ///< operation of the graph; -1: all operations
  bool again = false;  ///< it is part of the forward pass, recomputed in backward
  std::variant<Computation, Communicate> work;

  /// The kernel, or null.
  const Computation* kernel() const { return std::get_if<Computation>(&work); }
  const Communicate* communication() const { return std::get_if<Communicate>(&work); }
};

/// After op `op` of the plan the gradient of `parameter` is complete.
struct GradientReady {
  ParameterId parameter = 0;
  int op = 0;
};

/// What a part of a model exchanges with the parts before and behind it; -1: nothing. Gradients go the other
/// way.
struct Ends {
  TensorId received = -1;
  TensorId sent = -1;
  TensorId received_gradient = -1;  ///< the gradient of what is sent
  TensorId sent_gradient = -1;      ///< the gradient of what is received
};

struct Plan {
  Recipe recipe;
  Split split;
  std::vector<TensorSpec> tensors;
  std::vector<Op> ops;                           ///< in the order in which they are launched
  std::vector<GradientReady> ready;              ///< in the order of their ops; every parameter once
  std::vector<std::int64_t> parameter_elements;  ///< by parameter: the elements that this rank has
  std::vector<Axis> parameter_axis;              ///< by parameter: the ranks that hold the same part of it
  std::vector<bool> parameter_divided;           ///< by parameter: tensor-parallel ranks divide it
  std::vector<TensorId> gradients;               ///< by parameter
  Ends ends;
  // Lists that are empty say nothing: parameters are those of all replicas, and of no repetition.
  std::vector<int> parameter_unit;  ///< by parameter: the one repetition that uses it, or -1
  std::vector<int> operation_unit;  ///< by operation of the graph: its repetition, or -1
  std::vector<std::vector<ParameterId>> operation_parameters;  ///< by operation of the graph: what it uses

  Axis axis_of(ParameterId p) const {
    return parameter_axis.empty() ? Axis::kReplica : parameter_axis[static_cast<std::size_t>(p)];
  }
  int unit_of(ParameterId p) const {
    return parameter_unit.empty() ? -1 : parameter_unit[static_cast<std::size_t>(p)];
  }
  /// The repetition that an op belongs to, or -1.
  int unit_of(const Op& op) const {
    return op.operation < 0 || operation_unit.empty()
               ? -1
               : operation_unit[static_cast<std::size_t>(op.operation)];
  }

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
/// Makes the plan of one of the ranks that share the model; all have the same. Refuses what cannot be
/// divided.
sim::Result<Plan> make_plan(const Graph& graph, const Recipe& recipe, const Split& split);

/// The tensors that an op reads, and those it writes.
std::vector<TensorId> reads_of(const Op& op);
std::vector<TensorId> writes_of(const Op& op);

}  // namespace infold::train
