// Tensors, the order of the phases, and the optimizer.
#include "train/planner.h"

#include <algorithm>

#include "train/fusion.h"
#include "train/recompute.h"

namespace infold::train {

Plan make_plan(const Graph& graph, const Recipe& recipe) {
  return Planner(graph, recipe).run();
}

Planner::Planner(const Graph& graph, const Recipe& recipe)
    : graph_(graph),
      recipe_(recipe),
      values_(graph.values.size(), kNone),
      gradients_(graph.values.size(), kNone),
      weights_(graph.parameters.size(), kNone),
      weight_gradients_(graph.parameters.size(), kNone),
      to_add_(graph.parameters.size()),
      uses_(graph.parameters.size()),
      kept_(graph.operations.size()) {
  plan_.recipe = recipe;
  for (const Parameter& p : graph.parameters) plan_.parameter_elements.push_back(p.elements());
  outlives_.resize(graph.values.size());
  std::vector<int> made_in(graph.values.size(), -1);  // repetition
  for (const Operation& op : graph.operations) {
    for (const ParameterId p : op.parameters) ++uses_[static_cast<std::size_t>(p)];
    made_in[static_cast<std::size_t>(op.output)] = op.repetition;
    for (const ValueId v : op.inputs) {
      if (made_in[static_cast<std::size_t>(v)] != op.repetition)
        outlives_[static_cast<std::size_t>(v)] = true;
    }
  }
}

Plan Planner::run() {
  const bool recompute = recipe_.recompute != Recompute::kNone;
  groups_ = fuse(graph_, recipe_.fusion, recompute);
  for (const auto& group : groups_) forward(group);
  phase_ = Phase::kBackward;
  int repetition = -1;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    const int of = operation(group->back()).repetition;
    if (recompute && of >= 0 && of != repetition) run_again(of);
    repetition = of;
    backward(*group);
  }
  phase_ = Phase::kOptimizer;
  current_ = -1;
  optimize();
  plan_.gradients = weight_gradients_;
  if (recompute) drop_unread(plan_);
  return std::move(plan_);
}

TensorId Planner::tensor(Role role, std::int64_t rows, std::int64_t cols, int element_bytes) {
  plan_.tensors.push_back({role, rows, cols, element_bytes});
  return static_cast<TensorId>(plan_.tensors.size() - 1);
}

TensorId Planner::like(TensorId t) {
  return like(t, spec(t).element_bytes);
}
TensorId Planner::like(TensorId t, int element_bytes) {
  const TensorSpec s = spec(t);
  return tensor(Role::kPassing, s.rows, s.cols, element_bytes);
}
TensorId Planner::bits_for(TensorId t) {
  const TensorSpec s = spec(t);
  return tensor(Role::kPassing, s.rows, (s.cols + 7) / 8, 1);
}

TensorId Planner::value(ValueId v) {
  TensorId& t = values_[static_cast<std::size_t>(v)];
  if (t != kNone) return t;
  const Shape& shape = graph_.shape(v);
  // Libraries pad the few channels of an input image so that loads are aligned.
  const bool input_image = shape.kind == Shape::Kind::kImage && !wants_gradient(v);
  const std::int64_t cols = input_image ? (shape.channels + 3) / 4 * 4 : shape.channels;
  return t = passing(rows_of(v), cols);
}

TensorId Planner::weight(ParameterId p) {
  TensorId& t = weights_[static_cast<std::size_t>(p)];
  if (t != kNone) return t;
  const Parameter& parameter = graph_.parameters[static_cast<std::size_t>(p)];
  const TensorId kept = tensor(Role::kWeight, parameter.rows, parameter.cols, recipe_.weight_bytes());
  t = kept;
  if (recipe_.casts_weights()) {
    t = like(kept, recipe_.activation_bytes());
    // With fusion, the optimizer has left a copy in the type of products.
    if (!fused()) stream({kept}, {t});
  }
  return t;
}

TensorId Planner::gradient(ParameterId p) {
  TensorId& t = weight_gradients_[static_cast<std::size_t>(p)];
  const Parameter& parameter = graph_.parameters[static_cast<std::size_t>(p)];
  if (t == kNone) t = tensor(Role::kGradient, parameter.rows, parameter.cols, recipe_.gradient_bytes());
  return t;
}

void Planner::emit(decltype(Op::work) work) {
  plan_.ops.push_back({phase_, current_, again_, std::move(work)});
}

void Planner::stream(std::vector<TensorId> reads, std::vector<TensorId> writes, double ops) {
  emit(Streaming{{{std::move(reads), std::move(writes), ops}}});
}

/// Treats all parameters as one tensor: libraries process lists of tensors with few kernels.
void Planner::optimize() {
  const std::int64_t cols = 64;
  const std::int64_t rows = (graph_.parameter_count() + cols - 1) / cols;
  const auto all = [&](Role role, int bytes) { return tensor(role, rows, cols, bytes); };
  // They are parts, because weights and gradients are counted one by one.
  const TensorId g = all(Role::kPart, recipe_.gradient_bytes());
  const TensorId w = all(Role::kPart, recipe_.weight_bytes());
  const bool master = recipe_.has_master();
  const TensorId p = master ? all(Role::kOptimizer, 4) : w;
  const TensorId m = all(Role::kOptimizer, 4);
  const bool adam = recipe_.optimizer == Optimizer::kAdam;
  const TensorId v = adam ? all(Role::kOptimizer, 4) : kNone;
  if (fused()) {
    std::vector<TensorId> reads = {g, p, m};
    std::vector<TensorId> writes = {p, m};
    if (adam) {
      reads.push_back(v);
      writes.push_back(v);
    }
    if (master) writes.push_back(w);
    if (recipe_.casts_weights()) writes.push_back(all(Role::kPart, recipe_.activation_bytes()));
    stream(reads, writes, adam ? 14 : 6);
    return;
  }
  if (adam) {
    const TensorId root = all(Role::kPassing, 4);
    stream({m, g}, {m}, 2);        // moves m towards g
    stream({v}, {v}, 1);           // decays v
    stream({v, g}, {v}, 3);        // adds the square of g to v
    stream({v}, {root}, 2);        // takes the root of v
    stream({root}, {root}, 1);     // corrects the bias of the root
    stream({root}, {root}, 1);     // adds epsilon
    stream({p, m, root}, {p}, 3);  // updates the parameters
  } else {
    stream({g, p}, {g}, 2);  // weight decay
    stream({m}, {m}, 1);     // momentum
    stream({m, g}, {m}, 1);
    stream({p, m}, {p}, 2);  // updates the parameters
  }
  if (master) stream({p}, {w}, 1);
}

int Plan::first_op(Phase phase) const {
  const auto first = std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return op.phase == phase; });
  return static_cast<int>(first - ops.begin());
}

}  // namespace infold::train
