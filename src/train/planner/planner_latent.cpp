// The kernels of multi-head latent attention. Parts of a tensor that are used by themselves (the position's
// part of a key, the keys in a product of keys and values) are tensors in the memory of the whole.
#include "train/planner/planner.h"

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
/// So many heads, each with keys and values of its own.
Attend latent_heads_of(const LatentAttention& l, std::int64_t heads) {
  return {.causal = l.causal,
          .heads = heads,
          .head_size = l.key_size(),
          .kv_heads = heads,
          .value_size = l.value_size};
}
struct LatentKept {
  enum : std::size_t { kQuery, kKey, kValue, kMixed, kDown, kNormed, kQueryDown, kQueryNormed };
};
}  // namespace

void Planner::forward_latent(const Operation& op, const LatentAttention& l) {
  const LatentParameters at = places_of(l);
  const Split& split = division_.split;
  const std::int64_t rows = rows_of(op.inputs[0]);
  const std::int64_t heads = l.heads / split.tp;
  const int e = recipe_.activation_bytes();
  const auto part = [&](std::int64_t cols) { return tensor(Role::kPart, rows, cols, e); };
  const TensorId in = value(op.inputs[0]);
  const std::int64_t own = spec(in).rows;  // the few features are made of the rows that this rank has
  const TensorId q = passing(rows, heads * l.key_size());
  TensorId query_down = kNone;
  TensorId query_normed = kNone;
  if (l.query_rank > 0) {
    query_down = passing(own, l.query_rank);
    forward_linear(op.parameters[at.query_down], in, query_down);
    query_normed = forward_norm(query_down);
  }
  forward_linear(op.parameters[at.query_up], all_rows(l.query_rank > 0 ? query_normed : in), q);
  const TensorId down = passing(own, l.kv_rank + l.rotary_size);
  forward_linear(op.parameters[at.down], in, down);
  const TensorId normed = passing(own, l.kv_rank);
  stream({tensor(Role::kPart, own, l.kv_rank, e)}, {normed}, 4);
  const TensorId both = part(heads * (l.plain_size + l.value_size));
  forward_linear(op.parameters[at.up], all_rows(normed), both);
  turn(part(heads * l.rotary_size));
  TensorId position = kNone;
  if (split.rows()) {
    const TensorId here = passing(own, l.rotary_size);
    stream({down}, {here}, 0);
    position = all_rows(here);
  } else {
    position = part(l.rotary_size);
  }
  turn(position);
  // Every head gets a copy of the position's part. Attention reads values where the product left them; what
  // others read, too, is copied.
  const TensorId k = passing(rows, heads * l.key_size());
  stream({part(heads * l.plain_size), position}, {k});
  const TensorId v = passing(rows, heads * l.value_size);
  if (split.cp > 1) stream({both}, {v}, 0);
  const TensorId mixed = passing(rows, heads * l.value_size);
  kept_[static_cast<std::size_t>(current_)] = {q, k, v, mixed, down, normed, query_down, query_normed};
  const TensorId keys = all_tokens(k);
  const TensorId values = all_tokens(v);
  emit(attend(op, latent_heads_of(l, heads), {q, keys, values, mixed}));
  const TensorId out = partial_value(op.output);
  forward_linear(op.parameters[at.out], mixed, out);
  sum_into(op.output, out);
}

void Planner::backward_latent(const Operation& op, const LatentAttention& l) {
  const LatentParameters at = places_of(l);
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const Split& split = division_.split;
  const std::int64_t rows = rows_of(op.inputs[0]);
  const std::int64_t heads = l.heads / split.tp;
  const int e = recipe_.activation_bytes();
  const auto part = [&](std::int64_t cols) { return tensor(Role::kPart, rows, cols, e); };
  const ValueId in = op.inputs[0];
  const TensorId dy = all_rows(taken(op.output));
  const TensorId d_mixed = like(kept[LatentKept::kMixed]);
  data_gradient(op.parameters[at.out], dy, d_mixed);
  weight_gradient(op.parameters[at.out], kept[LatentKept::kMixed], dy);
  const TensorId keys = all_tokens(kept[LatentKept::kKey]);
  const TensorId values = all_tokens(kept[LatentKept::kValue]);
  const TensorId sum = like(kept[LatentKept::kQuery], 4);
  const TensorId d_keys = like(keys);
  const TensorId d_values = like(values);
  emit(attend(op, latent_heads_of(l, heads),
              {kept[LatentKept::kQuery], keys, values, kept[LatentKept::kMixed]},
              {sum, d_keys, d_values, d_mixed}));
  const TensorId dk = sum_of_tokens(d_keys);
  const TensorId dv = sum_of_tokens(d_values);
  const TensorId dq = narrow(sum);
  turn(part(heads * l.rotary_size));
  // All heads had the same position's part of the key: its gradients are added. The rest of the keys'
  // gradients goes next to the values'.
  TensorId position = passing(rows, l.rotary_size);
  stream({part(heads * l.rotary_size), dk}, {position});
  turn(position);
  position = sum_of(position);
  const TensorId d_up = passing(rows, heads * (l.plain_size + l.value_size));
  stream({part(heads * l.plain_size), dv}, {d_up});
  const TensorId all_normed = all_rows(kept[LatentKept::kNormed]);
  TensorId d_normed = like(all_normed);
  data_gradient(op.parameters[at.up], d_up, d_normed);
  d_normed = sum_of(d_normed);
  weight_gradient(op.parameters[at.up], all_normed, d_up);
  const TensorId d_down = like(kept[LatentKept::kDown]);
  stream({kept[LatentKept::kDown], d_normed, position}, {d_down}, 4);
  const TensorId scale = gradient(op.parameters[at.norm]);
  if (!fused()) stream({d_normed, kept[LatentKept::kDown]}, {scale}, 4);
  gave(op.parameters[at.norm]);
  backward_linear(op.parameters[at.down], in, d_down);
  if (l.query_rank == 0) {
    if (split.tp == 1) return backward_linear(op.parameters[at.query_up], in, dq);
    const TensorId x = all_rows(value(in));
    const TensorId dx = like(x);
    data_gradient(op.parameters[at.query_up], dq, dx);
    give(in, sum_of(dx));
    return weight_gradient(op.parameters[at.query_up], x, dq);
  }
  const TensorId all_queries = all_rows(kept[LatentKept::kQueryNormed]);
  TensorId d_query = like(all_queries);
  data_gradient(op.parameters[at.query_up], dq, d_query);
  d_query = sum_of(d_query);
  weight_gradient(op.parameters[at.query_up], all_queries, dq);
  backward_linear(op.parameters[at.query_down], in,
                  backward_norm(op.parameters[at.query_norm], kept[LatentKept::kQueryDown], d_query));
}

}  // namespace infold::train
