// What ranks that share layers, sequences or experts exchange.
//
// Tensor-parallel ranks divide a pair of products by columns and rows: each has a part of the sum that the
// second one gives, and in backward a part of the gradient of the first one's input. Without sequence
// parallelism these are all-reduced. With it every rank has some of the rows between such pairs: rows are
// gathered before a pair, and sums are scattered behind it.
#include "train/planner/planner.h"

namespace infold::train {

using coll::Collective;

void Planner::communicate(Axis axis, Collective what, TensorId in, TensorId out) {
  plan_.ops.push_back({phase_, current_, again_, Communicate{axis, what, in, out}});
}

void Planner::exchange_tokens(Collective what, TensorId in, TensorId out, int top) {
  const TensorSpec s = spec(what == Collective::kDispatch ? in : out);
  plan_.ops.push_back({phase_, current_, again_,
                       Communicate{.axis = Axis::kExpert,
                                   .what = what,
                                   .in = in,
                                   .out = out,
                                   .tokens = {.bytes = s.cols * s.element_bytes,
                                              .fan_out = std::min(top, division_.split.ep)}}});
}

TensorId Planner::all_rows(TensorId t) {
  if (!division_.split.rows()) return t;
  const TensorSpec s = spec(t);
  const TensorId all = tensor(Role::kPassing, s.rows * division_.split.tp, s.cols, s.element_bytes);
  communicate(Axis::kTensor, Collective::kAllGather, t, all);
  return all;
}

TensorId Planner::all_rows_of(ValueId v) {
  if (part(v) != Part::kRows) return value(v);
  TensorId& all = gathered_[static_cast<std::size_t>(v)];
  if (all == kNone) all = all_rows(value(v));
  return all;
}

TensorId Planner::sum_of(TensorId partial) {
  const Split& split = division_.split;
  if (split.tp == 1) return partial;
  if (!split.rows()) {
    communicate(Axis::kTensor, Collective::kAllReduce, partial, partial);
    return partial;
  }
  const TensorSpec s = spec(partial);
  const TensorId rows = tensor(Role::kPassing, s.rows / split.tp, s.cols, s.element_bytes);
  communicate(Axis::kTensor, Collective::kReduceScatter, partial, rows);
  return rows;
}

TensorId Planner::partial_value(ValueId v) {
  return part(v) == Part::kRows ? passing(rows_of(v), graph_.shape(v).channels) : value(v);
}

void Planner::sum_into(ValueId v, TensorId partial) {
  if (division_.split.tp == 1) return;
  const bool rows = part(v) == Part::kRows;
  communicate(Axis::kTensor, rows ? Collective::kReduceScatter : Collective::kAllReduce, partial, value(v));
}

TensorId Planner::all_tokens(TensorId t) {
  const int cp = division_.split.cp;
  if (cp == 1) return t;
  const TensorSpec s = spec(t);
  const TensorId all = tensor(Role::kPassing, s.rows * cp, s.cols, s.element_bytes);
  communicate(Axis::kContext, Collective::kAllGather, t, all);
  return all;
}

TensorId Planner::sum_of_tokens(TensorId t) {
  const int cp = division_.split.cp;
  if (cp == 1) return t;
  const TensorSpec s = spec(t);
  const TensorId own = tensor(Role::kPassing, s.rows / cp, s.cols, s.element_bytes);
  communicate(Axis::kContext, Collective::kReduceScatter, t, own);
  return own;
}

void Planner::give_part(ValueId v, TensorId partial) {
  if (division_.split.tp == 1) return give(v, partial);
  TensorId& sum = partials_[static_cast<std::size_t>(v)];
  if (sum == kNone) {
    sum = partial;
  } else {
    const TensorId both = like(sum);
    stream({sum, partial}, {both});
    sum = both;
  }
  if (--division_.partial_uses[static_cast<std::size_t>(v)] == 0) give(v, sum_of(sum));
}

/// Parameters that all tensor-parallel ranks hold, but from whose gradients each has seen some rows or some
/// heads only: they are small, and reduced in one when those of replicas are.
void Planner::sum_whole_gradients() {
  constexpr std::int64_t kCols = 64;
  std::int64_t elements = 0;
  for (std::size_t p = 0; p < division_.summed.size(); ++p) {
    if (division_.summed[p]) elements += division_.parameters[p].elements();
  }
  if (elements == 0) return;
  const TensorId all = tensor(Role::kPart, (elements + kCols - 1) / kCols, kCols, recipe_.gradient_bytes());
  communicate(Axis::kTensor, Collective::kAllReduce, all, all);
}

}  // namespace infold::train
