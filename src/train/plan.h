// One training step as a list of kernels, described by what they compute and which tensors they touch. It is
// a plain value that involves no GPU yet.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "train/graph.h"
#include "train/recipe.h"

namespace infold::train {

using TensorId = int;

struct TensorSpec {
  enum class Role : std::uint8_t {
    kPassing,    ///< lives from its first write to its last read
    kWeight,     ///< lives for the whole step, as do the next two
    kGradient,   ///< gradient of a parameter
    kOptimizer,  ///< state of the optimizer
    kPart,       ///< a part of another tensor, in the memory of that tensor
  };
  Role role = Role::kPassing;
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  int element_bytes = 2;
  std::int64_t bytes() const { return rows * cols * element_bytes; }
};

/// out[m x n] = left x right. Each operand lies in memory as rows of its outer dimension (m or n), or, with
/// `by_k`, as rows of k.
struct MatMul {
  TensorId left = 0;
  bool left_by_k = false;
  TensorId right = 0;
  bool right_by_k = false;
  TensorId out = 0;
  /// Products of one shape in one kernel; the rows of each tensor are divided evenly among them.
  int groups = 1;
  bool of_weights = false;  ///< it gives the gradient of a weight
};

struct Convolve {
  enum class Way : std::uint8_t { kForward, kDataGradient, kFilterGradient };
  Way way = Way::kForward;
  std::int64_t height = 1, width = 1, channels = 1, filters = 1, size = 1, stride = 1, pad = 0;
  TensorId in = 0, out = 0, filter = 0;  ///< or their gradients
};

struct Attend {
  bool backward = false;
  bool causal = false;
  std::int64_t sequence = 1, heads = 1, head_size = 1;
  std::int64_t kv_heads = 1, value_size = 1;
  TensorId query = 0, key = 0, value = 0, out = 0;
  TensorId d_query = 0, d_key = 0, d_value = 0, d_out = 0;
};

struct Streaming {
  struct Pass {
    std::vector<TensorId> reads;
    std::vector<TensorId> writes;
    double ops_per_element = 1;
  };
  std::vector<Pass> passes;  ///< if there are several: one kernel whose workgroups all stay until the end
};

enum class Phase : std::uint8_t { kForward, kBackward, kOptimizer };

struct Op {
  Phase phase = Phase::kForward;
  int operation = -1;  ///< operation of the graph; -1: all operations
  bool again = false;  ///< it is part of the forward pass, recomputed in backward
  std::variant<MatMul, Convolve, Attend, Streaming> work = {};
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

/// What one of a product's groups computes.
struct ProductSize {
  std::int64_t m = 1;
  std::int64_t n = 1;
  std::int64_t k = 1;
};
ProductSize size_of(const Plan& plan, const MatMul& product);
/// The operations of a product, all groups together; a multiply-add is two.
double flops_of(const Plan& plan, const MatMul& product);

Plan make_plan(const Graph& graph, const Recipe& recipe);

/// The tensors that an op reads, and those it writes.
std::vector<TensorId> reads_of(const Op& op);
std::vector<TensorId> writes_of(const Op& op);

}  // namespace infold::train
