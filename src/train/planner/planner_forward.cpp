// The kernels of the forward pass.
#include "train/planner/fusion.h"
#include "train/planner/planner.h"

namespace infold::train {

void Planner::forward(const std::vector<int>& group) {
  current_ = group.front();
  const Operation& first = operation(group.front());
  if (is_pointwise(first)) return forward_pointwise(group);
  forward_layer(first);
}

Convolve Planner::convolve(const Operation& op, const Conv& l, Convolve::Way way, TensorId in, TensorId out,
                           TensorId filter) const {
  const Shape& image = graph_.shape(op.inputs[0]);
  return {.way = way,
          .height = image.height,
          .width = image.width,
          .channels = spec(in).cols,
          .filters = l.filters,
          .size = l.size,
          .stride = l.stride,
          .pad = l.padding(),
          .in = in,
          .out = out,
          .filter = filter};
}

void Planner::forward_layer(const Operation& op) {
  if (op.as<Linear>() != nullptr || op.as<Embedding>() != nullptr) return forward_divided(op);
  const TensorId in = value(op.inputs[0]);
  const TensorId out = value(op.output);
  if (const auto* conv = op.as<Conv>()) {
    emit(convolve(op, *conv, Convolve::Way::kForward, in, out, weight(op.parameters[0])));
    if (conv->bias && !fused()) stream({out}, {out});
  } else if (const auto* pool = op.as<Pool>()) {
    forward_pool(op, *pool);
  } else if (op.as<Flatten>() != nullptr) {
    stream({in}, {out});  // changes the layout from pixel by pixel to channel by channel
  } else if (op.as<AddEmbedding>() != nullptr) {
    weight(op.parameters[0]);
    stream({in}, {out});
  } else if (const auto* attention = op.as<Attention>()) {
    forward_attention(op, *attention);
  } else if (const auto* latent = op.as<LatentAttention>()) {
    forward_latent(op, *latent);
  } else if (const auto* experts = op.as<Experts>()) {
    forward_experts(op, *experts);
  } else if (op.as<Pick>() != nullptr) {
    const TensorSpec s = spec(out);
    stream({tensor(Role::kPart, s.rows, s.cols, s.element_bytes)}, {out});
  } else if (const auto* interact = op.as<Interact>()) {
    const TensorId vectors = passing(recipe_.batch, graph_.shape(op.inputs[0]).channels * interact->features);
    kept_[static_cast<std::size_t>(current_)] = {vectors};
    stream({vectors, in}, {out}, interact->features);
  } else if (op.as<Loss>() != nullptr) {
    forward_loss(op);
  }
}

/// Layers of which a tensor-parallel rank has a part: a product reads all rows, or its result is a part of a
/// sum. Of a table that is divided over the vocabulary each rank finds some words.
void Planner::forward_divided(const Operation& op) {
  const TensorId x = value(op.inputs[0]);
  const Part way = division_.linears[static_cast<std::size_t>(current_)];
  const bool linear = op.as<Linear>() != nullptr;
  const TensorId in = linear && way == Part::kColumns ? all_rows_of(op.inputs[0]) : x;
  const bool sums = !linear || way == Part::kRows;
  const TensorId out = sums ? partial_value(op.output) : value(op.output);
  if (linear) {
    forward_linear(op.parameters[0], in, out);
  } else {
    const TensorSpec s = spec(out);
    const int tp = division_.split.tp;
    weight(op.parameters[0]);
    stream({tensor(Role::kPart, (s.rows + tp - 1) / tp, s.cols, recipe_.read_weight_bytes())}, {out});
  }
  if (sums) sum_into(op.output, out);
}

void Planner::forward_pool(const Operation& op, const Pool& l) {
  const TensorId in = value(op.inputs[0]);
  const TensorId out = value(op.output);
  if (l.kind == Pool::Kind::kMax && !fused()) {
    // Frameworks store which pixel won, in eight bytes.
    kept_[static_cast<std::size_t>(current_)] = {like(out, 8)};
    return stream({in}, {out, kept_[static_cast<std::size_t>(current_)][0]}, 4);
  }
  stream({in}, {out}, 4);
}

/// Every rank has the logits of some words. Ranks agree on the largest, and on the sum of the exponentials
/// and the logit of the right word, which one of them has.
void Planner::forward_divided_loss(const Operation& op) {
  const TensorId logits = value(op.inputs[0]);
  const std::int64_t rows = spec(logits).rows;
  using coll::Collective;
  const auto sum = [&](TensorId t) { communicate(Axis::kTensor, Collective::kAllReduce, t, t); };
  const auto column = [&](std::int64_t n) { return tensor(Role::kPassing, rows, n, 4); };
  TensorId wide = logits;
  if (!fused() && recipe_.sixteen_bit()) {
    wide = like(logits, 4);
    stream({logits}, {wide});
  }
  const TensorId largest = column(1);
  stream({wide}, {largest}, 1);
  sum(largest);
  auto& kept = kept_[static_cast<std::size_t>(current_)];
  if (fused()) {
    const TensorId both = column(2);
    stream({logits, largest}, {both}, 11);
    sum(both);
    kept = {largest, both};
    return;
  }
  const TensorId exponentials = like(wide);
  const TensorId right = column(1);
  stream({wide, largest}, {exponentials, right}, 11);
  sum(right);
  const TensorId total = column(1);
  stream({exponentials}, {total}, 1);
  sum(total);
  const TensorId shares = like(exponentials);
  stream({exponentials, total}, {shares}, 1);
  kept = {shares};
}

void Planner::forward_loss(const Operation& op) {
  if (part(op.inputs[0]) == Part::kColumns) return forward_divided_loss(op);
  TensorId logits = value(op.inputs[0]);
  if (fused()) return stream({logits}, {}, 12);
  if (recipe_.sixteen_bit()) {
    // Frameworks compute the logarithm in fp32.
    const TensorId wide = like(logits, 4);
    stream({logits}, {wide});
    logits = wide;
  }
  const TensorId logarithms = like(logits);
  kept_[static_cast<std::size_t>(current_)] = {logarithms};
  stream({logits}, {logarithms}, 12);
}

}  // namespace infold::train
