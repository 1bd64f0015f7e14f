// The kernels of attention: projections, rotation by position, the attention itself, and their gradients.
#include <array>

#include "train/planner.h"

namespace infold::train {

/// Rotates queries and keys by their position: both halves times a cosine and a sine, exchanged and added.
void Planner::turn(TensorId t) {
  if (fused()) return stream({t}, {t}, 4);
  const TensorId exchanged = like(t);
  const TensorId first = like(t);
  stream({t}, {exchanged});
  stream({t}, {first});
  stream({exchanged}, {exchanged});
  stream({first, exchanged}, {t});
}

TensorId Planner::forward_norm(TensorId x) {
  const TensorId y = like(x);
  stream({x}, {y}, 4);
  return y;
}

TensorId Planner::backward_norm(ParameterId scale, TensorId x, TensorId dy) {
  const TensorId dx = like(x);
  stream({dy, x}, {dx}, 4);
  const TensorId g = gradient(scale);
  if (!fused()) stream({dy, x}, {g}, 4);
  gave(scale);
  return dx;
}

TensorId Planner::narrow(TensorId sum) {
  if (recipe_.activation_bytes() == 4) return sum;
  const TensorId narrower = like(sum, recipe_.activation_bytes());
  stream({sum}, {narrower});
  return narrower;
}

void Planner::forward_attention(const Operation& op, const Attention& l) {
  const Shape& shape = graph_.shape(op.inputs[0]);
  const std::int64_t queries = l.query_width(shape.channels);
  const std::int64_t size = queries / l.heads;
  const std::int64_t values = size * l.value_heads();
  const std::int64_t rows = rows_of(op.inputs[0]);
  const TensorId in = value(op.inputs[0]);
  const TensorId source = value(op.inputs[l.cross ? 1 : 0]);
  TensorId q = passing(rows, queries);
  TensorId k = passing(rows, values);
  const TensorId v = passing(rows, values);
  const std::size_t stride = l.bias ? 2 : 1;
  if (l.joined) {
    // One product is made; attention reads its three parts.
    forward_linear(op.parameters[0], in,
                   tensor(Role::kPart, rows, queries + 2 * values, recipe_.activation_bytes()));
  } else {
    forward_linear(op.parameters[0], in, q);
    forward_linear(op.parameters[stride], source, k);
    forward_linear(op.parameters[2 * stride], source, v);
  }
  auto& kept = kept_[static_cast<std::size_t>(current_)];
  const TensorId mixed = passing(rows, queries);
  if (l.head_norm) {
    kept = {kNone, kNone, v, mixed, q, k};  // gradients of a normalisation need what it was given
    q = forward_norm(q);
    k = forward_norm(k);
    kept[0] = q;
    kept[1] = k;
  } else {
    kept = {q, k, v, mixed};
  }
  if (l.rotary) {
    turn(q);
    turn(k);
  }
  emit(Attend{.backward = false,
              .causal = l.causal,
              .sequence = shape.height,
              .heads = l.heads,
              .head_size = size,
              .kv_heads = l.value_heads(),
              .value_size = size,
              .query = q,
              .key = k,
              .value = v,
              .out = mixed});
  forward_linear(op.parameters[l.joined ? stride : 3 * stride], mixed, value(op.output));
}

void Planner::backward_attention(const Operation& op, const Attention& l) {
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  const Shape& shape = graph_.shape(op.inputs[0]);
  const std::int64_t size = l.query_width(shape.channels) / l.heads;
  const std::size_t stride = l.bias ? 2 : 1;
  const std::size_t last = l.joined ? stride : 3 * stride;
  const TensorId dy = taken(op.output);
  const TensorId mixed = kept[3];
  // The projection of the output.
  const TensorId d_mixed = like(mixed);
  data_gradient(op.parameters[last], dy, d_mixed);
  weight_gradient(op.parameters[last], mixed, dy);
  if (l.bias) bias_gradient(op.parameters[last + 1], dy);
  // Attention. The gradient of the queries is summed in fp32 and then cast to the type of the others.
  const TensorId sum = like(mixed, 4);
  TensorId dk = like(mixed);
  TensorId dv = like(mixed);
  emit(Attend{.backward = true,
              .causal = l.causal,
              .sequence = shape.height,
              .heads = l.heads,
              .head_size = size,
              .kv_heads = l.value_heads(),
              .value_size = size,
              .query = kept[0],
              .key = kept[1],
              .value = kept[2],
              .out = mixed,
              .d_query = sum,
              .d_key = dk,
              .d_value = dv,
              .d_out = d_mixed});
  TensorId dq = narrow(sum);
  if (l.value_heads() != l.heads) {
    // Every head of queries gave its own; those that share a head of keys and values are added.
    const TensorId all_keys = dk;
    const TensorId all_values = dv;
    dk = like(kept[1]);
    dv = like(kept[2]);
    stream({all_keys}, {dk});
    stream({all_values}, {dv});
  }
  if (l.rotary) {
    turn(dq);
    turn(dk);
  }
  if (l.head_norm) {
    dq = backward_norm(op.parameters[last + stride], kept[4], dq);
    dk = backward_norm(op.parameters[last + stride + 1], kept[5], dk);
  }
  // The projections of the input.
  if (l.joined) {
    const TensorId all = tensor(Role::kPart, spec(dk).rows, spec(dq).cols + spec(dk).cols + spec(dv).cols,
                                spec(dk).element_bytes);
    const TensorId dx = like(value(op.inputs[0]));
    data_gradient(op.parameters[0], all, dx);
    give(op.inputs[0], dx);
    weight_gradient(op.parameters[0], value(op.inputs[0]), all);
    if (l.bias) bias_gradient(op.parameters[1], all);
    return;
  }
  const std::array<TensorId, 3> gradients = {dq, dk, dv};
  for (std::size_t i = 3; i-- > 0;) {
    const ValueId from = op.inputs[l.cross && i > 0 ? 1 : 0];
    const TensorId dx = like(value(from));
    data_gradient(op.parameters[i * stride], gradients[i], dx);
    give(from, dx);
    weight_gradient(op.parameters[i * stride], value(from), gradients[i]);
    if (l.bias) bias_gradient(op.parameters[i * stride + 1], gradients[i]);
  }
}

}  // namespace infold::train
