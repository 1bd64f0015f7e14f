// The kernels of the forward pass.
#include "train/fusion.h"
#include "train/planner.h"

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
  const TensorId in = value(op.inputs[0]);
  const TensorId out = value(op.output);
  if (const auto* conv = op.as<Conv>()) {
    emit(convolve(op, *conv, Convolve::Way::kForward, in, out, weight(op.parameters[0])));
    if (conv->bias && !fused()) stream({out}, {out});
  } else if (op.as<Linear>() != nullptr) {
    forward_linear(op.parameters[0], in, out);
  } else if (const auto* pool = op.as<Pool>()) {
    forward_pool(op, *pool);
  } else if (op.as<Flatten>() != nullptr) {
    stream({in}, {out});  // changes the layout from pixel by pixel to channel by channel
  } else if (op.as<Embedding>() != nullptr) {
    const TensorSpec s = spec(out);
    weight(op.parameters[0]);
    stream({tensor(Role::kPart, s.rows, s.cols, recipe_.weight_bytes())}, {out});
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

void Planner::forward_loss(const Operation& op) {
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
