// The kernels of attention: projections, rotation by position, the attention itself, and their gradients.
#include <array>

#include "train/planner/planner.h"

namespace infold::train {

namespace {
/// The heads of this rank.
Attend heads_of(const Attention& l, std::int64_t size, int tp) {
  return {.causal = l.causal,
          .heads = l.heads / tp,
          .head_size = size,
          .kv_heads = l.value_heads() / tp,
          .value_size = size};
}
}  // namespace

Attend Planner::attend(const Operation& op, Attend heads, const AttendTensors& t) const {
  const std::int64_t tokens = graph_.shape(op.inputs[0]).height;
  heads.sequence = tokens / division_.split.cp;
  heads.keys = tokens;
  heads.query = t.query;
  heads.key = t.key;
  heads.value = t.value;
  heads.out = t.out;
  return heads;
}

Attend Planner::attend(const Operation& op, Attend heads, const AttendTensors& t,
                       const AttendTensors& gradients) const {
  Attend work = attend(op, heads, t);
  work.backward = true;
  work.d_query = gradients.query;
  work.d_key = gradients.key;
  work.d_value = gradients.value;
  work.d_out = gradients.out;
  return work;
}

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
  const Split& split = division_.split;
  const Shape& shape = graph_.shape(op.inputs[0]);
  const std::int64_t size = l.query_width(shape.channels) / l.heads;
  const std::int64_t queries = size * l.heads / split.tp;
  const std::int64_t values = size * l.value_heads() / split.tp;
  const std::int64_t rows = rows_of(op.inputs[0]);
  const TensorId in = all_rows_of(op.inputs[0]);
  const TensorId source = all_rows_of(op.inputs[l.cross ? 1 : 0]);
  TensorId q = passing(rows, queries);
  TensorId k = passing(rows, values);
  const TensorId v = passing(rows, values);
  const std::size_t stride = l.bias ? 2 : 1;
  if (l.joined) {
    // One product is made; attention reads its three parts. What others read, too, is copied.
    const TensorId all = tensor(Role::kPart, rows, queries + 2 * values, recipe_.activation_bytes());
    forward_linear(op.parameters[0], in, all);
    if (split.cp > 1) stream({all}, {k, v}, 0);
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
  const Attend heads = heads_of(l, size, split.tp);
  if (split.ring()) {
    forward_ring(op, heads, {q, k, v, mixed});
  } else {
    emit(attend(op, heads, {q, all_tokens(k), all_tokens(v), mixed}));
  }
  const TensorId out = partial_value(op.output);
  forward_linear(op.parameters[l.joined ? stride : 3 * stride], mixed, out);
  sum_into(op.output, out);
}

/// Every head of queries gave its own gradient; those that share a head of keys or values are added.
TensorId Planner::shared_heads(TensorId gradients, TensorId of) {
  if (spec(gradients).cols == spec(of).cols) return gradients;
  const TensorId sum = like(of);
  stream({gradients}, {sum});
  return sum;
}

Planner::AttendTensors Planner::backward_gathered(const Operation& op, const Attend& heads,
                                                  const AttendTensors& t, TensorId d_out) {
  const TensorId keys = all_tokens(t.key);
  const TensorId values = all_tokens(t.value);
  const TensorId sum = like(t.out, 4);
  const TensorId dk = passing(spec(keys).rows, spec(t.out).cols);
  const TensorId dv = passing(spec(keys).rows, spec(t.out).cols);
  emit(attend(op, heads, {t.query, keys, values, t.out}, {sum, dk, dv, d_out}));
  const TensorId of_keys = shared_heads(dk, keys);
  const TensorId of_values = shared_heads(dv, values);
  return {sum, sum_of_tokens(of_keys), sum_of_tokens(of_values), d_out};
}

void Planner::backward_attention(const Operation& op, const Attention& l) {
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  const Split& split = division_.split;
  const Shape& shape = graph_.shape(op.inputs[0]);
  const std::int64_t size = l.query_width(shape.channels) / l.heads;
  const std::size_t stride = l.bias ? 2 : 1;
  const std::size_t last = l.joined ? stride : 3 * stride;
  const TensorId dy = taken(op.output);
  const TensorId mixed = kept[3];
  // The projection of the output.
  const TensorId all_dy = all_rows(dy);
  const TensorId d_mixed = like(mixed);
  data_gradient(op.parameters[last], all_dy, d_mixed);
  weight_gradient(op.parameters[last], mixed, all_dy);
  if (l.biased_output()) bias_gradient(op.parameters[last + 1], dy);
  // Attention. The gradient of the queries is summed in fp32 and then cast to the type of the others.
  const Attend heads = heads_of(l, size, split.tp);
  const AttendTensors read = {kept[0], kept[1], kept[2], mixed};
  const AttendTensors attended =
      split.ring() ? backward_ring(op, heads, read, d_mixed) : backward_gathered(op, heads, read, d_mixed);
  TensorId dq = narrow(attended.query);
  TensorId dk = attended.key;
  TensorId dv = attended.value;
  if (l.rotary) {
    turn(dq);
    turn(dk);
  }
  if (l.head_norm) {
    const std::size_t norms = last + (l.biased_output() ? 2 : 1);
    dq = backward_norm(op.parameters[norms], kept[4], dq);
    dk = backward_norm(op.parameters[norms + 1], kept[5], dk);
  }
  // The projections of the input.
  if (l.joined) {
    const TensorId all = tensor(Role::kPart, spec(dk).rows, spec(dq).cols + spec(dk).cols + spec(dv).cols,
                                spec(dk).element_bytes);
    if (split.cp > 1) stream({dk, dv}, {all}, 0);
    const TensorId x = all_rows_of(op.inputs[0]);
    const TensorId dx = like(x);
    data_gradient(op.parameters[0], all, dx);
    give_part(op.inputs[0], dx);
    weight_gradient(op.parameters[0], x, all);
    if (l.bias) bias_gradient(op.parameters[1], all);
    return;
  }
  const std::array<TensorId, 3> gradients = {dq, dk, dv};
  if (split.tp > 1) return backward_divided_projections(op, l, gradients);
  for (std::size_t i = 3; i-- > 0;) {
    const ValueId from = op.inputs[l.cross && i > 0 ? 1 : 0];
    backward_linear(op.parameters[i * stride], from, gradients[i]);
    if (l.bias) bias_gradient(op.parameters[i * stride + 1], gradients[i]);
  }
}

/// The gradients of the input from all three are added before they are exchanged, and exchanged beside the
/// gradients of the weights.
void Planner::backward_divided_projections(const Operation& op, const Attention& l,
                                           const std::array<TensorId, 3>& gradients) {
  const std::size_t stride = l.bias ? 2 : 1;
  const auto from = [&](std::size_t i) { return op.inputs[l.cross && i > 0 ? 1 : 0]; };
  for (std::size_t i = 3; i-- > 0;) {
    const ValueId v = from(i);
    const TensorId dx = like(all_rows_of(v));
    data_gradient(op.parameters[i * stride], gradients[i], dx);
    TensorId& sum = partials_[static_cast<std::size_t>(v)];
    const bool last = i == 0 || (l.cross && i == 1);
    if (last) {
      give_part(v, dx);
    } else if (sum == kNone) {
      sum = dx;
    } else {
      const TensorId both = like(sum);
      stream({sum, dx}, {both});
      sum = both;
    }
  }
  for (std::size_t i = 3; i-- > 0;) {
    weight_gradient(op.parameters[i * stride], all_rows_of(from(i)), gradients[i]);
    if (l.bias) bias_gradient(op.parameters[i * stride + 1], gradients[i]);
  }
}

}  // namespace infold::train
