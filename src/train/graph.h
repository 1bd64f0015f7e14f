// A model as a list of operations in the order of the forward pass, with every shape computed.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/result.h"
#include "train/layers.h"
#include "train/model.h"
#include "train/shape.h"

namespace infold::train {

using ValueId = int;
using ParameterId = int;

/// How two paths are joined.
struct Join {
  Branches::Join kind = Branches::Join::kAdd;
};

struct Parameter {
  std::string name;  ///< "weight", "bias", ... of its layer
  std::int64_t rows = 1;
  std::int64_t cols = 1;
  bool matrix = false;  ///< a matrix product uses it, so it has the type of products
  bool wide = false;    ///< its products stay in 16 bits where others use 8: routers, the last projection
  int parts = 1;        ///< matrices of equal size that it consists of, one below the other: one per expert
  int parts_used = 1;   ///< of these, how many a token uses
  std::int64_t elements() const { return rows * cols; }
};

struct Value {
  Shape shape;
  bool needs_gradient = true;  ///< false for inputs
};

struct Operation {
  std::variant<Layer, Join> what;
  std::vector<ValueId> inputs;  ///< the first is that of the main path
  ValueId output = 0;
  std::vector<ParameterId> parameters;
  double forward_flops = 0;  ///< of one sample: products only, a multiply-add is two
  int repetition = -1;       ///< of an outermost 'repeat', counted through the model; -1: in none

  template <class L>
  const L* as() const {
    const auto* layer = std::get_if<Layer>(&what);
    return layer == nullptr ? nullptr : std::get_if<L>(layer);
  }
  const Join* join() const { return std::get_if<Join>(&what); }
};

/// One line of a description: an operation, or the beginning of a repetition.
struct Line {
  int depth = 0;
  int operation = -1;  ///< -1: this line is a heading
  int times = 1;       ///< for a heading: how often the lines below it are repeated
  std::string heading;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Operation> operations;
  std::vector<Parameter> parameters;  ///< in the order in which the model declares them
  std::vector<Line> lines;
  int repetitions = 0;  ///< of outermost 'repeat's; each is recomputed by itself
  /// For a part of a model (train/parts.h): the values that it gets from the part before it and gives to the
  /// next. -1: there are none.
  ValueId received = -1;
  ValueId sent = -1;

  std::int64_t parameter_count() const;
  /// The parameters that one token uses: of routed experts only those it is sent to.
  std::int64_t active_parameter_count() const;
  double forward_flops() const;
  const Shape& shape(ValueId v) const { return values[static_cast<std::size_t>(v)].shape; }
};

/// Refuses a model in which a layer cannot stand where it does; the error has that layer's place. `sequence`
/// is the number of tokens of a sample, or 0 for the model's usual number. Requires: a model within
/// kMostLayers and kDeepestModel.
sim::Result<Graph> build_graph(const Model& model, int sequence = 0);

}  // namespace infold::train
