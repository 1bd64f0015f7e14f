// The kernels of multi-head latent attention. Parts of a tensor that are used by themselves (the position's
// part of a key, the keys in a product of keys and values) are tensors in the memory of the whole.
#include "train/planner.h"

namespace infold::train {

namespace {
/// Where each parameter is in the operation's list.
struct LatentParameters {
  std::size_t query_down = 0, query_norm = 1, query_up = 2;
  std::size_t down = 3, norm = 4, up = 5, out = 6;
};
LatentParameters places_of(const LatentAttention& l) {
  if (l.query_rank > 0) return {};
  return {.query_up = 0, .down = 1, .norm = 2, .up = 3, .out = 4};
}
struct LatentKept {
  enum : std::size_t { kQuery, kKey, kValue, kMixed, kDown, kNormed, kQueryDown, kQueryNormed };
};
}  // namespace

void Planner::forward_latent(const Operation& op, const LatentAttention& l) {
  const LatentParameters at = places_of(l);
  const Shape& shape = graph_.shape(op.inputs[0]);
  const std::int64_t rows = rows_of(op.inputs[0]);
  const int e = recipe_.activation_bytes();
  const auto part = [&](std::int64_t cols) { return tensor(Role::kPart, rows, cols, e); };
  const TensorId in = value(op.inputs[0]);
  const TensorId q = passing(rows, l.heads * l.key_size());
  TensorId query_down = kNone;
  TensorId query_normed = kNone;
  if (l.query_rank > 0) {
    query_down = passing(rows, l.query_rank);
    forward_linear(op.parameters[at.query_down], in, query_down);
    query_normed = forward_norm(query_down);
  }
  forward_linear(op.parameters[at.query_up], l.query_rank > 0 ? query_normed : in, q);
  const TensorId down = passing(rows, l.kv_rank + l.rotary_size);
  forward_linear(op.parameters[at.down], in, down);
  const TensorId normed = passing(rows, l.kv_rank);
  stream({part(l.kv_rank)}, {normed}, 4);
  forward_linear(op.parameters[at.up], normed, part(std::int64_t{l.heads} * (l.plain_size + l.value_size)));
  turn(part(std::int64_t{l.heads} * l.rotary_size));
  const TensorId position = part(l.rotary_size);
  turn(position);
  // Every head gets a copy of the position's part. Attention reads values where the product left them.
  const TensorId k = passing(rows, l.heads * l.key_size());
  stream({part(std::int64_t{l.heads} * l.plain_size), position}, {k});
  const TensorId v = passing(rows, std::int64_t{l.heads} * l.value_size);
  const TensorId mixed = passing(rows, std::int64_t{l.heads} * l.value_size);
  kept_[static_cast<std::size_t>(current_)] = {q, k, v, mixed, down, normed, query_down, query_normed};
  emit(Attend{.backward = false,
              .causal = l.causal,
              .sequence = shape.height,
              .heads = l.heads,
              .head_size = l.key_size(),
              .kv_heads = l.heads,
              .value_size = l.value_size,
              .query = q,
              .key = k,
              .value = v,
              .out = mixed});
  forward_linear(op.parameters[at.out], mixed, value(op.output));
}

void Planner::backward_latent(const Operation& op, const LatentAttention& l) {
  const LatentParameters at = places_of(l);
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const std::int64_t rows = rows_of(op.inputs[0]);
  const int e = recipe_.activation_bytes();
  const auto part = [&](std::int64_t cols) { return tensor(Role::kPart, rows, cols, e); };
  const ValueId in = op.inputs[0];
  const TensorId dy = taken(op.output);
  const TensorId d_mixed = like(kept[LatentKept::kMixed]);
  data_gradient(op.parameters[at.out], dy, d_mixed);
  weight_gradient(op.parameters[at.out], kept[LatentKept::kMixed], dy);
  const TensorId sum = like(kept[LatentKept::kQuery], 4);
  const TensorId dk = like(kept[LatentKept::kKey]);
  const TensorId dv = like(kept[LatentKept::kValue]);
  emit(Attend{.backward = true,
              .causal = l.causal,
              .sequence = graph_.shape(in).height,
              .heads = l.heads,
              .head_size = l.key_size(),
              .kv_heads = l.heads,
              .value_size = l.value_size,
              .query = kept[LatentKept::kQuery],
              .key = kept[LatentKept::kKey],
              .value = kept[LatentKept::kValue],
              .out = kept[LatentKept::kMixed],
              .d_query = sum,
              .d_key = dk,
              .d_value = dv,
              .d_out = d_mixed});
  const TensorId dq = narrow(sum);
  turn(part(std::int64_t{l.heads} * l.rotary_size));
  // All heads had the same position's part of the key: its gradients are added. The rest of the keys'
  // gradients goes next to the values'.
  const TensorId position = passing(rows, l.rotary_size);
  stream({part(std::int64_t{l.heads} * l.rotary_size), dk}, {position});
  turn(position);
  const TensorId d_up = passing(rows, std::int64_t{l.heads} * (l.plain_size + l.value_size));
  stream({part(std::int64_t{l.heads} * l.plain_size), dv}, {d_up});
  const TensorId d_normed = like(kept[LatentKept::kNormed]);
  data_gradient(op.parameters[at.up], d_up, d_normed);
  weight_gradient(op.parameters[at.up], kept[LatentKept::kNormed], d_up);
  const TensorId d_down = like(kept[LatentKept::kDown]);
  stream({kept[LatentKept::kDown], d_normed, position}, {d_down}, 4);
  const TensorId scale = gradient(op.parameters[at.norm]);
  if (!fused()) stream({d_normed, kept[LatentKept::kDown]}, {scale}, 4);
  gave(op.parameters[at.norm]);
  const auto to_input = [&](std::size_t weight, TensorId d) {
    const TensorId dx = like(value(in));
    data_gradient(op.parameters[weight], d, dx);
    give(in, dx);
    weight_gradient(op.parameters[weight], value(in), d);
  };
  to_input(at.down, d_down);
  if (l.query_rank == 0) return to_input(at.query_up, dq);
  const TensorId d_query = like(kept[LatentKept::kQueryNormed]);
  data_gradient(op.parameters[at.query_up], dq, d_query);
  weight_gradient(op.parameters[at.query_up], kept[LatentKept::kQueryNormed], dq);
  to_input(at.query_down, backward_norm(op.parameters[at.query_norm], kept[LatentKept::kQueryDown], d_query));
}

}  // namespace infold::train
