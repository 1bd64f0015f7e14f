// Normalisation, activation, dropout and joins: streaming kernels, alone or several in one.
#include <algorithm>

#include "train/planner/fusion.h"
#include "train/planner/planner.h"

namespace infold::train {

namespace {
/// Approximate number of operations per element; few of these kernels are bound by them.
double ops_of(const Operation& op) {
  if (is_norm(op)) return 4;
  if (op.as<Dropout>() != nullptr) return 8;
  if (const auto* a = op.as<Activation>()) return a->kind == Activation::Kind::kRelu ? 1 : 10;
  return 1;
}
bool is_relu(const Operation& op) {
  const auto* a = op.as<Activation>();
  return a != nullptr && a->kind == Activation::Kind::kRelu;
}
/// The derivative is computed from the output, not from the input.
bool uses_output(const Operation& op) {
  const auto* a = op.as<Activation>();
  return a != nullptr && (a->kind == Activation::Kind::kRelu || a->kind == Activation::Kind::kTanh ||
                          a->kind == Activation::Kind::kSigmoid);
}
bool is_multiply(const Operation& op) {
  return op.join() != nullptr && op.join()->kind == Branches::Join::kMultiply;
}
}  // namespace

void Planner::forward_pointwise(const std::vector<int>& group) {
  const Operation& first = operation(group.front());
  const Operation& last = operation(group.back());
  const TensorId x = value(first.inputs[0]);
  const TensorId y = value(last.output);
  Streaming::Pass pass{{x}, {y}, 0};
  for (const int i : group) {
    const Operation& op = operation(i);
    auto& kept = kept_[static_cast<std::size_t>(i)];
    pass.ops_per_element += ops_of(op);
    if (op.join() != nullptr) pass.reads.push_back(value(op.inputs[1]));
    if (op.as<Dropout>() != nullptr) {
      kept.push_back(fused() ? bits_for(y) : like(y, 1));
    } else if (fused() && is_relu(op)) {
      kept.push_back(bits_for(y));
    } else if (i != group.front() && is_norm(op)) {
      kept.push_back(value(op.inputs[0]));  // a normalisation needs its input, which nothing else stores
    }
    pass.writes.insert(pass.writes.end(), kept.begin(), kept.end());
  }
  if (first.as<BatchNorm>() == nullptr) return emit(Streaming{{pass}});
  Streaming::Pass statistics{{x}, {}, 3};
  if (fused()) return emit(Streaming{{statistics, pass}});
  emit(Streaming{{statistics}});
  emit(Streaming{{pass}});
}

/// What the gradient of a run of operations needs besides the gradient of its output.
void Planner::backward_pointwise(const std::vector<int>& group) {
  const Operation& first = operation(group.front());
  const Operation& last = operation(group.back());
  const TensorId dy = taken(last.output);
  const TensorId x = value(first.inputs[0]);
  std::vector<TensorId> reads = {dy};
  std::vector<TensorId> writes;
  const auto need = [&](TensorId t) {
    if (std::find(reads.begin(), reads.end(), t) == reads.end()) reads.push_back(t);
  };
  double ops = 0;
  bool changes = false;  // an operation behind the current one changes the gradient
  const Operation* norm = nullptr;
  std::vector<std::pair<ValueId, TensorId>> others;  // gradients of the values that were joined
  for (auto i = group.rbegin(); i != group.rend(); ++i) {
    const Operation& op = operation(*i);
    const auto& kept = kept_[static_cast<std::size_t>(*i)];
    if (op.join() != nullptr) {
      if (is_multiply(op)) {
        need(value(op.inputs[1]));
        need(fused() ? x : value(op.inputs[0]));
        changes = true;
      }
      if (wants_gradient(op.inputs[1])) {
        const TensorId d = changes ? like(dy) : dy;
        if (changes) writes.push_back(d);
        others.emplace_back(op.inputs[1], d);
      }
      ops += 1;
      continue;
    }
    changes = true;
    ops += ops_of(op);
    for (const TensorId t : kept) need(t);
    if (is_norm(op)) norm = &op;
    if (kept.empty()) need(!fused() && uses_output(op) ? value(op.output) : x);
  }
  TensorId dx = dy;
  const bool wanted = wants_gradient(first.inputs[0]);
  if (changes && wanted) {
    dx = like(x);
    writes.push_back(dx);
  }
  if (first.as<BatchNorm>() != nullptr) {
    const Streaming::Pass sums{reads, {}, 4};
    if (fused()) {
      emit(Streaming{{sums, {reads, writes, ops}}});
    } else {
      emit(Streaming{{sums}});
      stream(reads, writes, ops);
    }
  } else if (changes) {
    stream(reads, writes, ops);
    // The sums for scale and shift go down the columns, which takes a kernel of its own unless fused.
    if (norm != nullptr && !fused()) stream(reads, {gradient(norm->parameters.front())}, 4);
  }
  if (norm != nullptr) {
    for (const ParameterId p : norm->parameters) {
      gradient(p);
      gave(p);
    }
  }
  for (const auto& [v, d] : others) give(v, d);
  if (wanted) give(first.inputs[0], dx);
}

}  // namespace infold::train
