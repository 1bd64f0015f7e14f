// The kernels of routed experts on one GPU. Each expert gets as many tokens as any other; rows that are left
// over pad the last ones. The three products of all experts are one kernel each.
#include <array>

#include "train/planner.h"

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

void Planner::forward_experts(const Operation& op, const Experts& l) {
  const std::int64_t rows = rows_of(op.inputs[0]);
  const std::int64_t width = graph_.shape(op.inputs[0]).channels;
  const std::int64_t sent_rows = (rows * l.top + l.count - 1) / l.count * l.count;
  const auto [gate, up, down] = matrices_of(op);
  const TensorId in = value(op.inputs[0]);
  const TensorId logits = passing(rows, l.count);
  forward_linear(op.parameters[0], in, logits);
  // Which experts a token goes to, and its share of each: in fp32, with a number for the expert.
  const TensorId shares = tensor(Role::kPassing, rows, l.top, 8);
  stream({logits}, {shares}, 16);
  // The tokens are sorted by expert; each is copied once for each of its experts.
  const TensorId sent = passing(sent_rows, width);
  const TensorId copies = tensor(Role::kPart, rows * l.top, width, recipe_.activation_bytes());
  stream({copies, in}, {sent}, 0);
  const TensorId gated = passing(sent_rows, l.inner);
  const TensorId upper = passing(sent_rows, l.inner);
  forward_linear(gate, sent, gated);
  forward_linear(up, sent, upper);
  kept_[static_cast<std::size_t>(current_)] = {
      logits, shares, sent, gated, upper, like(gated), passing(sent_rows, width)};
  activate_experts();
  const auto& kept = kept_[static_cast<std::size_t>(current_)];
  forward_linear(down, kept[ExpertsKept::kInner], kept[ExpertsKept::kDown]);
  // Back in the order of tokens, each the weighted sum of what its experts gave.
  stream({kept[ExpertsKept::kDown], shares}, {value(op.output)}, 2);
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
  if (recipe_.recompute == Recompute::kSelective && op.repetition >= 0) {
    auto& inner = kept_[static_cast<std::size_t>(current_)][ExpertsKept::kInner];
    inner = like(inner);
    again_ = true;
    activate_experts();
    again_ = false;
  }
  const auto kept = kept_[static_cast<std::size_t>(current_)];
  const auto [gate, up, down] = matrices_of(op);
  const ValueId in = op.inputs[0];
  const TensorId dy = taken(op.output);
  const TensorId d_shares = tensor(Role::kPassing, spec(dy).rows, l.top, 4);
  // The gradient of a token goes to each of its experts; its product with what the expert gave is that of the
  // share.
  const TensorId d_down = like(kept[ExpertsKept::kDown]);
  const TensorId copies =
      tensor(Role::kPart, spec(dy).rows * l.top, spec(dy).cols, recipe_.activation_bytes());
  stream({kept[ExpertsKept::kDown], copies, dy, kept[ExpertsKept::kShares]}, {d_down, d_shares}, 4);
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
  const TensorId dx = like(value(in));
  stream({from_up, from_gate}, {dx}, 2);
  give(in, dx);
  // The router.
  const TensorId d_logits = like(kept[ExpertsKept::kLogits]);
  stream({kept[ExpertsKept::kLogits], kept[ExpertsKept::kShares], d_shares}, {d_logits}, 4);
  const TensorId through_router = like(value(in));
  data_gradient(op.parameters[0], d_logits, through_router);
  give(in, through_router);
  weight_gradient(op.parameters[0], value(in), d_logits);
  if (l.balance) {  // moved by the load of the experts instead of a gradient; it is summed like one
    gradient(op.parameters[1]);
    gave(op.parameters[1]);
  }
}

}  // namespace infold::train
