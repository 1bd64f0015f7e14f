// Makes a plan from a graph: forward group by group, backward in reverse. Used by make_plan only.
#pragma once

#include <initializer_list>
#include <map>
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
  TensorId like(TensorId t);                     ///< another passing tensor of the same shape and type
  TensorId like(TensorId t, int element_bytes);  ///< the same with another element size
  TensorId bits_for(TensorId t);                 ///< one bit for each of its elements
  TensorId value(ValueId v);                     ///< created when it is first asked for
  TensorId weight(ParameterId p);  ///< in the type of products; cast once per step if the type differs
  TensorId gradient(ParameterId p);
  const TensorSpec& spec(TensorId t) const { return plan_.tensors[static_cast<std::size_t>(t)]; }
  std::int64_t rows_of(ValueId v) const { return recipe_.batch * graph_.shape(v).positions(); }

  // Kernels.
  void emit(decltype(Op::work) work);
  void stream(std::vector<TensorId> reads, std::vector<TensorId> writes, double ops = 1);

  // Linear maps. Those of several experts are one kernel.
  /// What a product reads: a tensor and, in 8 bits, a copy whose columns are in the place of its rows.
  struct Operands {
    TensorId straight = kNone;
    TensorId turned = kNone;
  };
  bool eight_bit(ParameterId weight) const;
  int groups_of(ParameterId weight) const;
  Operands cast(TensorId t, int groups);
  void forward_linear(ParameterId weight, TensorId in, TensorId out);
  /// The gradient of the input, given that of the output.
  void data_gradient(ParameterId weight, TensorId out, TensorId in);
  /// The gradients of the weight and the bias; `out` is the gradient of the output.
  void weight_gradient(ParameterId weight, TensorId in, TensorId out);
  void bias_gradient(ParameterId bias, TensorId out);

  // Forward.
  void forward(const std::vector<int>& group);
  void forward_pointwise(const std::vector<int>& group);
  void forward_layer(const Operation& op);
  void forward_attention(const Operation& op, const Attention& l);
  void forward_latent(const Operation& op, const LatentAttention& l);
  void forward_experts(const Operation& op, const Experts& l);
  void activate_experts();  ///< the gated activation inside the experts
  void turn(TensorId t);    ///< rotary positions
  /// A normalisation inside a layer: each row, or each head of one, by itself.
  TensorId forward_norm(TensorId x);
  void forward_loss(const Operation& op);
  void forward_pool(const Operation& op, const Pool& l);

  // Backward.
  void backward(const std::vector<int>& group);
  void backward_pointwise(const std::vector<int>& group);
  void backward_layer(const Operation& op);
  void backward_attention(const Operation& op, const Attention& l);
  void backward_latent(const Operation& op, const LatentAttention& l);
  void backward_experts(const Operation& op, const Experts& l);
  /// Also gives the gradient of its scale.
  TensorId backward_norm(ParameterId scale, TensorId x, TensorId dy);
  /// Attention sums the gradient of queries in fp32; this is the same in the type of the others.
  TensorId narrow(TensorId sum);
  void backward_loss(const Operation& op);
  void backward_pool(const Operation& op, const Pool& l);
  void backward_conv(const Operation& op, const Conv& l);
  void backward_embedding(const Operation& op, ParameterId table);
  /// Where a product leaves the gradient of a weight, and what brings it from there to its final place.
  TensorId raw_gradient(ParameterId p);
  void settle_gradient(ParameterId p, TensorId raw);
  /// Whether there is a value already that a gradient has to be added to.
  bool added(ParameterId p) const {
    return recipe_.accumulate > 1 || weight_gradients_[static_cast<std::size_t>(p)] != kNone;
  }
  /// The gradient of a value: the first one is kept, further ones are added.
  void give(ValueId v, TensorId gradient);
  TensorId taken(ValueId v) const { return gradients_[static_cast<std::size_t>(v)]; }
  bool wants_gradient(ValueId v) const { return graph_.values[static_cast<std::size_t>(v)].needs_gradient; }
  /// The last kernel completed one use of the gradient of this parameter; shared parameters count down their
  /// uses.
  void gave(ParameterId p);

  void optimize();

  // Recomputation.
  /// Runs what the forward pass of a repetition has not kept, before its backward.
  void run_again(int repetition);
  bool runs_again(const std::vector<int>& group) const;

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
  std::vector<TensorId> weights_;            // by parameter: the tensor that products use
  std::vector<TensorId> weight_gradients_;   // by parameter
  std::vector<bool> to_add_;                 // by parameter: the part of its gradient that exists already
  std::vector<int> uses_;                    // by parameter: gradients that are still to come
  std::vector<std::vector<TensorId>> kept_;  // by operation: what backward needs besides values
  std::vector<std::vector<int>> groups_;     // operations that become one kernel
  std::vector<bool> outlives_;               // by value: it is used outside the repetition that makes it
  std::map<TensorId, Operands> casts_;       // 8-bit copies that exist already
  bool again_ = false;                       // a forward pass is being repeated
};

}  // namespace infold::train
