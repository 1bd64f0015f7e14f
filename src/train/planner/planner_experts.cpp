// The kernels of routed experts. Each expert gets as many tokens as any other, or as the one that gets most;
// rows that are left over are padding. The three products of all experts that a rank has are one kernel each.
// Where ranks share the experts, tokens go to the ranks that have theirs, and back.
#include <array>
#include <cmath>

#include "train/planner/planner.h"

namespace infold::train {

namespace {
struct ExpertsKept {
  enum : std::size_t { kLogits, kShares, kSent, kGate, kUp, kInner, kDown };
};
/// The weights behind the router.
std::array<ParameterId, 3> matrices_of(const Operation& op) {
  const std::size_t first = op.parameters.size() - 3;
  return {op.parameters[first], op.parameters[first + 1], op.parameters[first + 2]};
}
}  // namespace

/// The number of rows that the tokens of one rank fill, over all experts.
std::int64_t Planner::expert_rows(std::int64_t tokens, const Experts& l) const {
  const double skew = division_.split.skew;
  const auto each = (tokens * l.top + l.count - 1) / l.count;
  return l.count * (skew > 1 ? static_cast<std::int64_t>(std::ceil(static_cast<double>(each) * skew)) : each);
}

/// What comes from several ranks lies rank by rank, and is sorted by expert. Tensor-parallel ranks have a
/// part of each expert, and need the tokens of all.
TensorId Planner::to_experts(TensorId t, const Experts& l) {
  const Split& split = division_.split;
  TensorId here = t;
  if (split.ep > 1) {
    here = like(t);
    communicate(Axis::kExpert, coll::Collective::kAllToAll, t, here);
  }
  here = all_rows(here);
  if (here == t || l.count == split.ep) return here;
  const TensorId sorted = like(here);
  stream({here}, {sorted}, 0);
  return sorted;
}

TensorId Planner::from_experts(TensorId t, const Experts& l) {
  const Split& split = division_.split;
  TensorId here = t;
  if ((split.ep > 1 || split.rows()) && l.count != split.ep) {
    here = like(t);
    stream({t}, {here}, 0);
  }
  here = sum_of(here);
  if (split.ep == 1) return here;
  const TensorId back = like(here);
  communicate(Axis::kExpert, coll::Collective::kAllToAll, here, back);
  return back;
}

void Planner::forward_experts(const Operation& op, const Experts& l) {
  if (division_.split.multicast()) return forward_multicast(op, l);
  const TensorId in = value(op.inputs[0]);
  const std::int64_t rows = spec(in).rows;
  const std::int64_t width = graph_.shape(op.inputs[0]).channels;
  const TensorId logits = passing(rows, l.count);
  forward_linear(op.parameters[0], in, logits);
  // The router gives the experts that a token goes to and its share of each, in fp32 with the expert's
  // number.
  const TensorId shares = tensor(Role::kPassing, rows, l.top, 8);
  stream({logits}, {shares}, 16);
  // The tokens are sorted by expert; each is copied once for each of its experts.
  const TensorId own = passing(expert_rows(rows, l), width);
  const TensorId copies = tensor(Role::kPart, rows * l.top, width, recipe_.activation_bytes());
  stream({copies, in}, {own}, 0);
  const TensorId sent = to_experts(own, l);
  kept_[static_cast<std::size_t>(current_)] = {logits, shares, sent};
  forward_inside(op, sent);
  auto& kept = kept_[static_cast<std::size_t>(current_)];
  kept[ExpertsKept::kDown] = from_experts(kept[ExpertsKept::kDown], l);
  // Rows go back into the order of tokens; each is the weighted sum of what its experts gave.
  stream({kept[ExpertsKept::kDown], shares}, {value(op.output)}, 2);
}

/// `kept_` has the logits, the shares and what is sent; what the products give is added to it.
void Planner::forward_inside(const Operation& op, TensorId sent) {
  const auto [gate, up, down] = matrices_of(op);
  const std::int64_t rows = spec(sent).rows;
  const std::int64_t inner = op.as<Experts>()->inner / division_.split.tp;
  const TensorId gated = passing(rows, inner);
  const TensorId upper = passing(rows, inner);
  forward_linear(gate, sent, gated);
  forward_linear(up, sent, upper);
  auto& kept = kept_[static_cast<std::size_t>(current_)];
  kept.insert(kept.end(), {gated, upper, like(gated), passing(rows, spec(sent).cols)});
  activate_experts();
  forward_linear(down, kept[ExpertsKept::kInner], kept[ExpertsKept::kDown]);
}

void Planner::activate_experts() {
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  if (fused())
    return stream({kept[ExpertsKept::kGate], kept[ExpertsKept::kUp]}, {kept[ExpertsKept::kInner]}, 11);
  const TensorId activated = like(kept[ExpertsKept::kGate]);
  stream({kept[ExpertsKept::kGate]}, {activated}, 10);
  stream({activated, kept[ExpertsKept::kUp]}, {kept[ExpertsKept::kInner]}, 1);
}

void Planner::backward_experts(const Operation& op, const Experts& l) {
  if (division_.split.multicast()) return backward_multicast(op, l);
  recompute_inner(op);
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const ValueId in = op.inputs[0];
  const TensorId dy = taken(op.output);
  const TensorId d_shares = tensor(Role::kPassing, spec(dy).rows, l.top, 4);
  // The gradient of a token goes to each of its experts; its product with what the expert gave is that of the
  // share.
  TensorId d_down = like(kept[ExpertsKept::kDown]);
  const TensorId copies =
      tensor(Role::kPart, spec(dy).rows * l.top, spec(dy).cols, recipe_.activation_bytes());
  stream({kept[ExpertsKept::kDown], copies, dy, kept[ExpertsKept::kShares]}, {d_down, d_shares}, 4);
  d_down = to_experts(d_down, l);
  const auto [from_up, from_gate] = backward_inside(op, d_down);
  const TensorId dx = like(value(in));
  if (division_.split.ep > 1 || division_.split.tp > 1) {
    const TensorId both = like(from_up);
    stream({from_up, from_gate}, {both});
    stream({from_experts(both, l)}, {dx}, 1);
  } else {
    stream({from_up, from_gate}, {dx}, 2);
  }
  give(in, dx);
  backward_router(op, d_shares);
}

void Planner::recompute_inner(const Operation& op) {
  if (recipe_.recompute == Recompute::kSelective && op.repetition >= 0) {
    auto& inner = kept_[static_cast<std::size_t>(current_)][ExpertsKept::kInner];
    inner = like(inner);
    again_ = true;
    activate_experts();
    again_ = false;
  }
}

std::array<TensorId, 2> Planner::backward_inside(const Operation& op, TensorId d_down) {
  const auto [gate, up, down] = matrices_of(op);
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const TensorId d_inner = like(kept[ExpertsKept::kInner]);
  data_gradient(down, d_down, d_inner);
  weight_gradient(down, kept[ExpertsKept::kInner], d_down);
  const TensorId d_gate = like(kept[ExpertsKept::kGate]);
  const TensorId d_up = like(kept[ExpertsKept::kUp]);
  if (fused()) {
    stream({d_inner, kept[ExpertsKept::kGate], kept[ExpertsKept::kUp]}, {d_gate, d_up}, 14);
  } else {
    stream({d_inner, kept[ExpertsKept::kGate], kept[ExpertsKept::kUp]}, {d_gate, d_up}, 4);
    stream({d_gate, kept[ExpertsKept::kGate]}, {d_gate}, 10);
  }
  const TensorId from_up = like(kept[ExpertsKept::kSent]);
  data_gradient(up, d_up, from_up);
  weight_gradient(up, kept[ExpertsKept::kSent], d_up);
  const TensorId from_gate = like(kept[ExpertsKept::kSent]);
  data_gradient(gate, d_gate, from_gate);
  weight_gradient(gate, kept[ExpertsKept::kSent], d_gate);
  return {from_up, from_gate};
}

void Planner::backward_router(const Operation& op, TensorId d_shares) {
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const ValueId in = op.inputs[0];
  const TensorId d_logits = like(kept[ExpertsKept::kLogits]);
  stream({kept[ExpertsKept::kLogits], kept[ExpertsKept::kShares], d_shares}, {d_logits}, 4);
  const TensorId through_router = like(value(in));
  data_gradient(op.parameters[0], d_logits, through_router);
  give(in, through_router);
  weight_gradient(op.parameters[0], value(in), d_logits);
  if (op.as<Experts>()
          ->balance) {  // moved by the load of the experts instead of a gradient; it is summed like one
    gradient(op.parameters[1]);
    gave(op.parameters[1]);
  }
}

}  // namespace infold::train
