// Routed experts whose tokens are dispatched and combined: a token leaves its rank once, with its shares of
// its experts, and goes to all ranks that have some of these. They compute, weigh and add up what their
// experts give, and one sum comes back. Memory has a place for every token of every rank.
#include <algorithm>

#include "train/planner/planner.h"

namespace infold::train {

namespace {
struct Kept {
  enum : std::size_t { kLogits, kShares, kSent, kGate, kUp, kInner, kDown, kSharesHere };
};
/// Columns of rows that are tokens: these have whole 16 bytes.
std::int64_t columns(std::int64_t n, int element_bytes) {
  const std::int64_t whole = 16 / element_bytes;
  return (n + whole - 1) / whole * whole;
}
}  // namespace

/// The number of tokens that come to a rank, of all ranks.
std::int64_t Planner::tokens_here(std::int64_t rows, const Experts& l) const {
  return rows * std::min(l.top, division_.split.ep);
}

TensorId Planner::dispatched(TensorId tokens, const Experts& l) {
  const TensorSpec s = spec(tokens);
  const TensorId all = tensor(Role::kPassing, s.rows * division_.split.ep, s.cols, s.element_bytes);
  exchange_tokens(coll::Collective::kDispatch, tokens, all, l.top);
  return all;
}

void Planner::forward_multicast(const Operation& op, const Experts& l) {
  const TensorId in = value(op.inputs[0]);
  const std::int64_t rows = spec(in).rows;
  const std::int64_t here = tokens_here(rows, l);
  const TensorId logits = passing(rows, l.count);
  forward_linear(op.parameters[0], in, logits);
  const TensorId shares = tensor(Role::kPassing, rows, columns(l.top, 8), 8);
  stream({logits}, {shares}, 16);
  const TensorId all = dispatched(in, l);
  const TensorId shares_here = dispatched(shares, l);
  // Tokens are sorted by expert; each is copied once for each of its experts on this rank.
  const TensorId sent = passing(expert_rows(rows, l), spec(in).cols);
  emit(Streaming{{{{all, shares_here}, {sent}, 0, {{all, here}, {shares_here, here}}}}});
  kept_[static_cast<std::size_t>(current_)] = {logits, shares, sent};
  forward_inside(op, sent);
  auto& kept = kept_[static_cast<std::size_t>(current_)];
  kept.push_back(shares_here);
  // What the experts of this rank give a token is weighed and added up.
  const TensorId sums = like(all);
  emit(Streaming{{{{kept[Kept::kDown], shares_here}, {sums}, 2, {{shares_here, here}, {sums, here}}}}});
  exchange_tokens(coll::Collective::kCombine, sums, value(op.output), l.top);
}

void Planner::backward_multicast(const Operation& op, const Experts& l) {
  recompute_inner(op);
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const ValueId in = op.inputs[0];
  const TensorId dy = taken(op.output);
  const std::int64_t rows = spec(dy).rows;
  const std::int64_t here = tokens_here(rows, l);
  const TensorId all = dispatched(dy, l);
  // The gradient of a token goes to each of its experts; its product with what the expert gave is that of the
  // share, which belongs to the token's rank.
  const TensorId d_down = like(kept[Kept::kDown]);
  const TensorId d_shares_here = tensor(Role::kPassing, rows * division_.split.ep, columns(l.top, 4), 4);
  emit(Streaming{{{{kept[Kept::kDown], all, kept[Kept::kSharesHere]},
                   {d_down, d_shares_here},
                   4,
                   {{all, here}, {kept[Kept::kSharesHere], here}, {d_shares_here, here}}}}});
  const TensorId d_shares = tensor(Role::kPassing, rows, columns(l.top, 4), 4);
  exchange_tokens(coll::Collective::kCombine, d_shares_here, d_shares, l.top);
  const auto [from_up, from_gate] = backward_inside(op, d_down);
  const TensorId sums = like(all);
  emit(Streaming{{{{from_up, from_gate}, {sums}, 2, {{sums, here}}}}});
  const TensorId dx = like(value(in));
  exchange_tokens(coll::Collective::kCombine, sums, dx, l.top);
  give(in, dx);
  backward_router(op, d_shares);
}

}  // namespace infold::train
