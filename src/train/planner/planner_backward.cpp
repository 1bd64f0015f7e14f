// The kernels of the backward pass, in reverse order of the forward pass.
#include <utility>

#include "train/planner/fusion.h"
#include "train/planner/planner.h"

namespace infold::train {

void Planner::backward(const std::vector<int>& group) {
  current_ = group.back();
  const Operation& first = operation(group.front());
  const bool begins = first.as<Loss>() != nullptr;
  // 'memory' passes on the input of the decoder: no gradient comes back through it.
  if (!begins && taken(operation(group.back()).output) == kNone) return;
  if (is_pointwise(first)) return backward_pointwise(group);
  backward_layer(first);
}

void Planner::give(ValueId v, TensorId gradient) {
  TensorId& g = gradients_[static_cast<std::size_t>(v)];
  if (g == kNone) {
    g = gradient;
    return;
  }
  const TensorId sum = like(g);
  stream({g, gradient}, {sum});
  g = sum;
}

void Planner::gave(ParameterId p) {
  if (--uses_[static_cast<std::size_t>(p)] > 0) return;
  int op = static_cast<int>(plan_.ops.size()) - 1;
  while (plan_.ops[static_cast<std::size_t>(op)].kernel() == nullptr) --op;
  plan_.ready.push_back({p, op});
}

void Planner::backward_layer(const Operation& op) {
  if (op.as<Loss>() != nullptr) return backward_loss(op);
  const TensorId dy = taken(op.output);
  const ValueId in = op.inputs[0];
  if (const auto* conv = op.as<Conv>()) {
    backward_conv(op, *conv);
  } else if (const auto* linear = op.as<Linear>()) {
    const Part way = division_.linears[static_cast<std::size_t>(current_)];
    const TensorId x = way == Part::kColumns ? all_rows_of(in) : value(in);
    const TensorId d = way == Part::kRows ? all_rows(dy) : dy;
    if (wants_gradient(in)) {
      const TensorId dx = like(x);
      data_gradient(op.parameters[0], d, dx);
      if (way == Part::kColumns) {
        give_part(in, dx);
      } else {
        give(in, dx);
      }
    }
    weight_gradient(op.parameters[0], x, d);
    if (linear->bias) bias_gradient(op.parameters[1], dy);
  } else if (const auto* pool = op.as<Pool>()) {
    backward_pool(op, *pool);
  } else if (op.as<Flatten>() != nullptr) {
    if (!wants_gradient(in)) return;
    const TensorId dx = like(value(in));
    stream({dy}, {dx});
    give(in, dx);
  } else if (op.as<Embedding>() != nullptr) {
    backward_embedding(op, op.parameters[0]);
  } else if (op.as<AddEmbedding>() != nullptr) {
    stream({dy}, {gradient(op.parameters[0])});
    gave(op.parameters[0]);
    give(in, dy);
  } else if (const auto* attention = op.as<Attention>()) {
    backward_attention(op, *attention);
  } else if (const auto* latent = op.as<LatentAttention>()) {
    backward_latent(op, *latent);
  } else if (const auto* experts = op.as<Experts>()) {
    backward_experts(op, *experts);
  } else if (op.as<Pick>() != nullptr) {
    const TensorId dx = like(value(in));
    const TensorSpec s = spec(dy);
    stream({}, {dx});
    stream({dy}, {tensor(Role::kPart, s.rows, s.cols, s.element_bytes)});
    give(in, dx);
  } else if (op.as<Interact>() != nullptr) {
    const TensorId vectors = kept_[static_cast<std::size_t>(current_)][0];
    const TensorId dx = like(value(in));
    stream({vectors, value(in), dy}, {like(vectors), dx}, 2);
    give(in, dx);
  }
}

void Planner::backward_conv(const Operation& op, const Conv& l) {
  const TensorId dy = taken(op.output);
  const ValueId in = op.inputs[0];
  if (wants_gradient(in)) {
    const TensorId dx = like(value(in));
    emit(convolve(op, l, Convolve::Way::kDataGradient, dx, dy, weight(op.parameters[0])));
    give(in, dx);
  }
  const TensorId raw = raw_gradient(op.parameters[0]);
  emit(convolve(op, l, Convolve::Way::kFilterGradient, value(in), dy, raw));
  settle_gradient(op.parameters[0], raw);
  if (l.bias) bias_gradient(op.parameters[1], dy);
}

void Planner::backward_pool(const Operation& op, const Pool& l) {
  const ValueId in = op.inputs[0];
  if (!wants_gradient(in)) return;
  const TensorId dy = taken(op.output);
  const TensorId dx = like(value(in));
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  if (l.kind == Pool::Kind::kMean) {
    stream({dy}, {dx});
  } else if (kept.empty()) {
    stream({value(in), value(op.output), dy}, {dx}, 4);
  } else {
    stream({}, {dx});
    stream({dy, kept[0]}, {dx}, 4);
  }
  give(in, dx);
}

/// The gradient of the table is dense: it is cleared, and then the rows that occurred are added to.
void Planner::backward_embedding(const Operation& op, ParameterId table) {
  const TensorId dy = all_rows(taken(op.output));
  const bool again = added(table);
  const TensorId g = gradient(table);
  const TensorSpec s = spec(dy);
  const TensorId rows = tensor(Role::kPart, s.rows, s.cols, recipe_.gradient_bytes());
  if (!again) stream({}, {g});
  stream({dy, rows}, {rows});
  gave(table);
}

void Planner::backward_loss(const Operation& op) {
  const TensorId logits = value(op.inputs[0]);
  const TensorId d = like(logits);
  give(op.inputs[0], d);
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  if (fused()) {
    std::vector<TensorId> reads = {logits};
    reads.insert(reads.end(), kept.begin(), kept.end());
    return stream(std::move(reads), {d}, 12);
  }
  const TensorId logarithms = kept[0];
  if (!recipe_.sixteen_bit()) return stream({logarithms}, {d}, 8);
  const TensorId wide = like(logits, 4);
  stream({logarithms}, {wide}, 8);
  stream({wide}, {d});
}

}  // namespace infold::train
