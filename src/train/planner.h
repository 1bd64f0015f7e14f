// Makes a plan of a graph: forward group by group, backward in reverse. Used by make_plan only.
#pragma once

#include <initializer_list>
#include <utility>
#include <vector>

#include "train/plan.h"

namespace infold::train {

class Planner {
 public:
  Planner(const Graph& graph, const Recipe& recipe);
  Plan run();

 private:
  using Role = TensorSpec::Role;
  static constexpr TensorId kNone = -1;

  // Tensors.
  TensorId tensor(Role role, std::int64_t rows, std::int64_t cols, int element_bytes);
  TensorId passing(std::int64_t rows, std::int64_t cols) {
    return tensor(Role::kPassing, rows, cols, recipe_.activation_bytes());
  }
  TensorId like(TensorId t);                     ///< another passing tensor of this one's shape and type
  TensorId like(TensorId t, int element_bytes);  ///< the same in another type
  TensorId bits_for(TensorId t);                 ///< one bit for each of its elements
  TensorId value(ValueId v);                     ///< made when first asked for
  TensorId weight(ParameterId p);  ///< in the type of products; cast once a step where it differs
  TensorId gradient(ParameterId p);
  const TensorSpec& spec(TensorId t) const { return plan_.tensors[static_cast<std::size_t>(t)]; }
  std::int64_t rows_of(ValueId v) const { return recipe_.batch * graph_.shape(v).positions(); }

  // Kernels.
  void emit(decltype(Op::work) work);
  void stream(std::vector<TensorId> reads, std::vector<TensorId> writes, double ops = 1);
  void product(TensorId left, bool left_by_k, TensorId right, bool right_by_k, TensorId out);

  // Forward.
  void forward(const std::vector<int>& group);
  void forward_pointwise(const std::vector<int>& group);
  void forward_layer(const Operation& op);
  void forward_linear(ParameterId weight, TensorId in, TensorId out) {
    product(in, false, this->weight(weight), false, out);
  }
  void forward_attention(const Operation& op, const Attention& l);
  void turn(TensorId t);  ///< rotary positions
  void forward_loss(const Operation& op);
  void forward_pool(const Operation& op, const Pool& l);

  // Backward.
  void backward(const std::vector<int>& group);
  void backward_pointwise(const std::vector<int>& group);
  void backward_layer(const Operation& op);
  void backward_attention(const Operation& op, const Attention& l);
  void backward_loss(const Operation& op);
  void backward_pool(const Operation& op, const Pool& l);
  void backward_conv(const Operation& op, const Conv& l);
  void backward_embedding(const Operation& op, ParameterId table);
  /// dW of a linear map, and the bias' gradient; `out` is the gradient of what it gave.
  void weight_gradient(ParameterId weight, TensorId in, TensorId out);
  void bias_gradient(ParameterId bias, TensorId out);
  /// Where a product is to leave a weight's gradient, and what brings it from there to its place.
  TensorId raw_gradient(ParameterId p);
  void settle_gradient(ParameterId p, TensorId raw);
  /// Something is there already that a gradient has to be added to.
  bool added(ParameterId p) const {
    return recipe_.accumulate > 1 || weight_gradients_[static_cast<std::size_t>(p)] != kNone;
  }
  /// The gradient of a value: the first is kept, further ones are added.
  void give(ValueId v, TensorId gradient);
  TensorId taken(ValueId v) const { return gradients_[static_cast<std::size_t>(v)]; }
  bool wants_gradient(ValueId v) const { return graph_.values[static_cast<std::size_t>(v)].needs_gradient; }
  /// The last kernel was the last that this parameter's gradient needs; counted down for shared ones.
  void gave(ParameterId p);

  void optimize();

  Convolve convolve(const Operation& op, const Conv& l, Convolve::Way way, TensorId in, TensorId out,
                    TensorId filter) const;
  const Operation& operation(int i) const { return graph_.operations[static_cast<std::size_t>(i)]; }
  bool fused() const { return recipe_.fusion == Fusion::kFused; }

  const Graph& graph_;
  Recipe recipe_;
  Plan plan_;
  Phase phase_ = Phase::kForward;
  int current_ = -1;                         // operation of the graph
  std::vector<TensorId> values_;             // by value
  std::vector<TensorId> gradients_;          // by value
  std::vector<TensorId> weights_;            // by parameter: as products use it
  std::vector<TensorId> weight_gradients_;   // by parameter
  std::vector<bool> to_add_;                 // by parameter: its gradient's present part
  std::vector<int> uses_;                    // by parameter: gradients still to come
  std::vector<std::vector<TensorId>> kept_;  // by operation: what backward needs beside values
};

}  // namespace infold::train
