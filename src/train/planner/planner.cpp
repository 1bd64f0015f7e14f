// Tensors, the order of the phases, and the optimizer.
#include "train/planner/planner.h"

#include <algorithm>
#include <utility>

#include "train/planner/fusion.h"
#include "train/planner/recompute.h"

namespace infold::train {

Plan make_plan(const Graph& graph, const Recipe& recipe) {
  return Planner(graph, recipe, undivided(graph)).run();
}

sim::Result<Plan> make_plan(const Graph& graph, const Recipe& recipe, const Split& split) {
  auto division = divide(graph, recipe, split);
  if (!division) return sim::fail_as(std::move(division));
  return Planner(graph, recipe, *std::move(division)).run();
}

Planner::Planner(const Graph& graph, const Recipe& recipe, Division division)
    : graph_(graph),
      recipe_(recipe),
      division_(std::move(division)),
      values_(graph.values.size(), kNone),
      gathered_(graph.values.size(), kNone),
      gradients_(graph.values.size(), kNone),
      partials_(graph.values.size(), kNone),
      weights_(graph.parameters.size(), kNone),
      weight_gradients_(graph.parameters.size(), kNone),
      to_add_(graph.parameters.size()),
      uses_(graph.parameters.size()),
      kept_(graph.operations.size()) {
  plan_.recipe = recipe;
  plan_.split = division_.split;
  for (const Parameter& p : division_.parameters) plan_.parameter_elements.push_back(p.elements());
  plan_.parameter_axis = division_.axes;
  plan_.parameter_divided = division_.divided;
  constexpr int kUnused = -2;
  plan_.parameter_unit.assign(graph.parameters.size(), kUnused);
  for (const Operation& op : graph.operations) {
    plan_.operation_unit.push_back(op.repetition);
    plan_.operation_parameters.push_back(op.parameters);
    for (const ParameterId p : op.parameters) {
      int& unit = plan_.parameter_unit[static_cast<std::size_t>(p)];
      unit = unit == kUnused || unit == op.repetition ? op.repetition : -1;
    }
  }
  std::ranges::replace(plan_.parameter_unit, kUnused, -1);
  outlives_.resize(graph.values.size());
  std::vector<int> made_in(graph.values.size(), -1);  // by value: the repetition that makes it
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
  // A unit that is gathered together is compiled by itself, so no kernel reaches beyond it.
  groups_ = fuse(graph_, recipe_.fusion, recompute || recipe_.sharding == Sharding::kParameters);
  for (const auto& group : groups_) forward(group);
  if (graph_.received >= 0) plan_.ends.received = value(graph_.received);
  if (graph_.sent >= 0) {
    plan_.ends.sent = value(graph_.sent);
    plan_.ends.received_gradient = like(plan_.ends.sent);
    give(graph_.sent, plan_.ends.received_gradient);
  }
  phase_ = Phase::kBackward;
  gathered_.assign(gathered_.size(), kNone);  // backward gathers again: it takes less memory than keeping
  int repetition = -1;
  for (auto group = groups_.rbegin(); group != groups_.rend(); ++group) {
    const int of = operation(group->back()).repetition;
    if (recompute && of >= 0 && of != repetition) run_again(of);
    repetition = of;
    backward(*group);
  }
  if (graph_.received >= 0) plan_.ends.sent_gradient = taken(graph_.received);
  phase_ = Phase::kOptimizer;
  current_ = -1;
  sum_whole_gradients();
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
  const int tp = division_.split.tp;
  return t = passing(part(v) == Part::kRows ? rows_of(v) / tp : rows_of(v),
                     part(v) == Part::kColumns ? (cols + tp - 1) / tp : cols);
}

TensorId Planner::weight(ParameterId p) {
  TensorId& t = weights_[static_cast<std::size_t>(p)];
  if (t != kNone) return t;
  const TensorId kept =
      tensor(Role::kWeight, parameter(p).rows, parameter(p).cols, recipe_.read_weight_bytes());
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
  if (t == kNone) t = tensor(Role::kGradient, parameter(p).rows, parameter(p).cols, recipe_.gradient_bytes());
  return t;
}

void Planner::emit(Computation work) {
  plan_.ops.push_back({phase_, current_, again_, std::move(work)});
}

void Planner::stream(std::vector<TensorId> reads, std::vector<TensorId> writes, double ops) {
  emit(Streaming{{{std::move(reads), std::move(writes), ops}}});
}

std::int64_t Planner::updated_elements() const {
  std::int64_t sum = 0;
  for (std::size_t p = 0; p < plan_.parameter_elements.size(); ++p) {
    const int shards =
        plan_.parameter_axis[p] == Axis::kExpertReplica ? recipe_.expert_shards : recipe_.shards;
    sum += (plan_.parameter_elements[p] + shards - 1) / shards;
  }
  return sum;
}

/// Treats all parameters as one tensor: libraries process lists of tensors with few kernels.
void Planner::optimize() {
  const std::int64_t cols = 64;
  const std::int64_t rows = (updated_elements() + cols - 1) / cols;
  const auto all = [&](Role role, int bytes) { return tensor(role, rows, cols, bytes); };
  // They are parts, because weights and gradients are counted one by one.
  const TensorId g = all(Role::kPart, recipe_.weight_bytes());
  const TensorId w = all(Role::kPart, recipe_.weight_bytes());
  const bool master = recipe_.has_master();
  const TensorId p = master ? all(Role::kOptimizer, 4) : w;
  const TensorId m = all(Role::kOptimizer, 4);
  const bool adam = recipe_.optimizer == Optimizer::kAdam;
  const TensorId v = adam ? all(Role::kOptimizer, 4) : kNone;
  // A strategy that gathers shards in the type of products needs them so; FSDP casts them as it gathers.
  const bool gathered = recipe_.sharding == Sharding::kOptimizer || recipe_.sharding == Sharding::kGradients;
  const bool leaves_copy =
      recipe_.casts_weights() || (gathered && recipe_.weight_bytes() != recipe_.activation_bytes());
  if (fused()) {
    std::vector<TensorId> reads = {g, p, m};
    std::vector<TensorId> writes = {p, m};
    if (adam) {
      reads.push_back(v);
      writes.push_back(v);
    }
    if (master) writes.push_back(w);
    if (leaves_copy) writes.push_back(all(Role::kPart, recipe_.activation_bytes()));
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
  if (gathered && leaves_copy) stream({p}, {all(Role::kPart, recipe_.activation_bytes())}, 1);
}

std::vector<TensorId> reads_of(const Op& op) {
  if (const Communicate* c = op.communication()) return {c->in};
  return work::touched(*op.kernel()).reads;
}
std::vector<TensorId> writes_of(const Op& op) {
  if (const Communicate* c = op.communication()) return {c->out};
  return work::touched(*op.kernel()).writes;
}

int Plan::first_op(Phase phase) const {
  const auto first = std::find_if(ops.begin(), ops.end(), [&](const Op& op) { return op.phase == phase; });
  return static_cast<int>(first - ops.begin());
}

}  // namespace infold::train
