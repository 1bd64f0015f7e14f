// Makes a plan from a graph: forward group by group, backward in reverse. Used by make_plan only.
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <utility>
#include <vector>

#include "train/plan.h"
#include "train/planner/division.h"

namespace infold::train {

class Planner {
 public:
  Planner(const Graph& graph, const Recipe& recipe, Division division);
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
  /// The rows of a value, as all tensor-parallel ranks together have it.
  std::int64_t rows_of(ValueId v) const {
    return recipe_.batch * graph_.shape(v).positions() / division_.split.cp;
  }
  Part part(ValueId v) const { return division_.values[static_cast<std::size_t>(v)]; }
  const Parameter& parameter(ParameterId p) const {
    return division_.parameters[static_cast<std::size_t>(p)];
  }

  // Kernels.
  void emit(Computation work);
  void stream(std::vector<TensorId> reads, std::vector<TensorId> writes, double ops = 1);

  // What ranks exchange (planner_exchange.cpp). Without others each gives back what it was given.
  void communicate(Axis axis, coll::Collective what, TensorId in, TensorId out);
  /// Dispatches or combines rows, which are tokens of `top` experts each.
  void exchange_tokens(coll::Collective what, TensorId in, TensorId out, int top);
  /// Gathers all rows of a tensor that tensor-parallel ranks have in parts.
  TensorId all_rows(TensorId t);
  /// Gathers all rows of a value; products that follow each other read one copy.
  TensorId all_rows_of(ValueId v);
  /// Sums what tensor-parallel ranks have; gives the rows of this one, or all.
  TensorId sum_of(TensorId partial);
  /// Where a product leaves this rank's part of the sum that a value is, and what makes the value of it.
  TensorId partial_value(ValueId v);
  void sum_into(ValueId v, TensorId partial);
  /// Gathers a tensor of all ranks that share a sequence; sums what these have for this rank's part of it.
  TensorId all_tokens(TensorId t);
  TensorId sum_of_tokens(TensorId t);
  void sum_whole_gradients();

  // Linear maps. Those of several experts are one kernel.
  /// What a product reads: a tensor and, in 8 bits, a copy whose columns are in the place of its rows.
  struct Operands {
    TensorId straight = kNone;
    TensorId turned = kNone;
  };
  bool eight_bit(ParameterId weight) const;
  int groups_of(ParameterId weight) const;
  Operands cast(TensorId t, int groups);
  struct Factor {
    TensorId tensor = kNone;
    bool by_column = false;  ///< the product sums over the tensor's rows
  };
  void multiply(ParameterId weight, Factor left, Factor right, TensorId out, bool of_weights = false);
  void forward_linear(ParameterId weight, TensorId in, TensorId out);
  /// The gradient of the input, given that of the output.
  void data_gradient(ParameterId weight, TensorId out, TensorId in);
  /// The gradients of the weight and the bias; `out` is the gradient of the output.
  void weight_gradient(ParameterId weight, TensorId in, TensorId out);
  void bias_gradient(ParameterId bias, TensorId out);
  /// Both gradients of a map that read the value `from`; `out` is the gradient of what it gave.
  void backward_linear(ParameterId weight, ValueId from, TensorId out);

  // Forward.
  void forward(const std::vector<int>& group);
  void forward_pointwise(const std::vector<int>& group);
  void forward_layer(const Operation& op);
  void forward_divided(const Operation& op);
  void forward_attention(const Operation& op, const Attention& l);
  struct AttendTensors {
    TensorId query, key, value, out;
  };
  /// The attention of these heads over the sequences of the operation's input; the second is its backward.
  Attend attend(const Operation& op, Attend heads, const AttendTensors& t) const;
  Attend attend(const Operation& op, Attend heads, const AttendTensors& t,
                const AttendTensors& gradients) const;
  /// Attention whose keys and values go round the ranks that share the sequence (planner_ring.cpp), and its
  /// backward, which gives the gradients of queries (in fp32), keys and values.
  void forward_ring(const Operation& op, const Attend& heads, const AttendTensors& t);
  AttendTensors backward_ring(const Operation& op, const Attend& heads, const AttendTensors& t,
                              TensorId d_out);
  Attend attend_part(Attend whole, int step) const;
  TensorId from_neighbour(TensorId t);
  /// The same where all keys and values are gathered first.
  AttendTensors backward_gathered(const Operation& op, const Attend& heads, const AttendTensors& t,
                                  TensorId d_out);
  TensorId shared_heads(TensorId gradients, TensorId of);
  void forward_latent(const Operation& op, const LatentAttention& l);
  void forward_experts(const Operation& op, const Experts& l);
  std::int64_t tokens_here(std::int64_t rows, const Experts& l) const;
  TensorId dispatched(TensorId tokens, const Experts& l);
  void forward_multicast(const Operation& op, const Experts& l);
  void backward_multicast(const Operation& op, const Experts& l);
  /// The products of the experts that this rank has, of rows that are sorted by expert.
  void forward_inside(const Operation& op, TensorId sent);
  /// Gives the gradients of what is sent: from the product of values and from that of gates.
  std::array<TensorId, 2> backward_inside(const Operation& op, TensorId d_down);
  void recompute_inner(const Operation& op);
  void backward_router(const Operation& op, TensorId d_shares);
  void activate_experts();  ///< the gated activation inside the experts
  std::int64_t expert_rows(std::int64_t tokens, const Experts& l) const;
  /// Rows that lie in the order of experts go to the ranks that have these, and back.
  TensorId to_experts(TensorId t, const Experts& l);
  TensorId from_experts(TensorId t, const Experts& l);
  void turn(TensorId t);  ///< rotary positions
  /// A normalisation inside a layer: each row, or each head of one, by itself.
  TensorId forward_norm(TensorId x);
  void forward_loss(const Operation& op);
  void forward_divided_loss(const Operation& op);
  void forward_pool(const Operation& op, const Pool& l);

  // Backward.
  void backward(const std::vector<int>& group);
  void backward_pointwise(const std::vector<int>& group);
  void backward_layer(const Operation& op);
  void backward_attention(const Operation& op, const Attention& l);
  void backward_divided_projections(const Operation& op, const Attention& l,
                                    const std::array<TensorId, 3>& gradients);
  void backward_latent(const Operation& op, const LatentAttention& l);
  void backward_experts(const Operation& op, const Experts& l);
  /// Emits the backward of forward_norm, and gives the gradient of its scale.
  TensorId backward_norm(ParameterId scale, TensorId x, TensorId dy);
  /// Casts the gradient of queries, which attention sums in fp32, to the type of the other gradients.
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
    return recipe_.adds_gradients() || weight_gradients_[static_cast<std::size_t>(p)] != kNone;
  }
  /// Like give(), where each tensor-parallel rank has a part of the sum. The parts are summed when the last
  /// use of the value has given its own.
  void give_part(ValueId v, TensorId partial);
  /// Takes the gradient of a value from one of its uses: the first is kept, further ones are added.
  void give(ValueId v, TensorId gradient);
  TensorId taken(ValueId v) const { return gradients_[static_cast<std::size_t>(v)]; }
  bool wants_gradient(ValueId v) const { return graph_.values[static_cast<std::size_t>(v)].needs_gradient; }
  /// Notes that the last kernel completed one use of the gradient of this parameter. Shared parameters count
  /// down their uses.
  void gave(ParameterId p);

  void optimize();
  /// The elements of all parameters that this rank updates.
  std::int64_t updated_elements() const;

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
  Division division_;
  Plan plan_;
  Phase phase_ = Phase::kForward;
  int current_ = -1;                         // operation of the graph
  std::vector<TensorId> values_;             // by value
  std::vector<TensorId> gathered_;           // by value: all its rows, where this rank has some
  std::vector<TensorId> gradients_;          // by value
  std::vector<TensorId> partials_;           // by value: this rank's part of its gradient, so far
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
