// Linear maps: the three products of each, the 8-bit copies of their operands, and gradients of weights.
#include "train/planner/planner.h"

namespace infold::train {

/// Matrix units take 8-bit operands in rows of 16 bytes.
bool Planner::eight_bit(ParameterId weight) const {
  const Parameter& p = parameter(weight);
  return recipe_.eight_bit() && !p.wide && p.rows / p.parts % 16 == 0 && p.cols % 16 == 0;
}

int Planner::groups_of(ParameterId weight) const {
  return parameter(weight).parts;
}

/// Scales a tensor so that its largest element just fits, and casts it. Both products that it is an operand
/// of sum along rows, so the kernel writes two copies. Fused, the scale is that of earlier steps (delayed
/// scaling); otherwise a kernel before it looks for the largest element.
Planner::Operands Planner::cast(TensorId t, int groups) {
  const auto known = casts_.find(t);
  if (known != casts_.end()) return known->second;
  const TensorSpec s = spec(t);
  const Operands copies{tensor(Role::kPassing, s.rows, s.cols, 1),
                        tensor(Role::kPassing, s.cols * groups, s.rows / groups, 1)};
  if (!fused()) stream({t}, {});
  stream({t}, {copies.straight, copies.turned}, 2);
  casts_[t] = copies;
  return copies;
}

/// Emits a product of a linear map. An operand that is read by column in 16 bits is a turned copy in 8 bits.
void Planner::multiply(ParameterId p, Factor left, Factor right, TensorId out, bool of_weights) {
  MatMul product{.left = left.tensor,
                 .left_by_k = left.by_column,
                 .right = right.tensor,
                 .right_by_k = right.by_column,
                 .out = out,
                 .groups = groups_of(p),
                 .of_weights = of_weights};
  if (eight_bit(p)) {
    const Operands left_copies = cast(left.tensor, groups_of(p));
    const Operands right_copies = cast(right.tensor, groups_of(p));
    product.left = left.by_column ? left_copies.turned : left_copies.straight;
    product.right = right.by_column ? right_copies.turned : right_copies.straight;
    product.left_by_k = product.right_by_k = false;
  }
  emit(product);
}

void Planner::forward_linear(ParameterId p, TensorId in, TensorId out) {
  multiply(p, {in}, {weight(p)}, out);
}

void Planner::data_gradient(ParameterId p, TensorId out, TensorId in) {
  multiply(p, {out}, {weight(p), true}, in);
}

void Planner::weight_gradient(ParameterId p, TensorId in, TensorId out) {
  const TensorId raw = raw_gradient(p);
  multiply(p, {out, true}, {in, true}, raw, true);
  settle_gradient(p, raw);
}

void Planner::backward_linear(ParameterId p, ValueId from, TensorId out) {
  const TensorId dx = like(value(from));
  data_gradient(p, out, dx);
  give(from, dx);
  weight_gradient(p, value(from), out);
}

void Planner::bias_gradient(ParameterId bias, TensorId out) {
  if (!fused()) {
    stream({out}, {gradient(bias)});
  } else {
    gradient(bias);  // the product that reads the same data sums it
  }
  gave(bias);
}

/// In mixed precision a product writes 16 bits; frameworks cast them to the type of the weight afterwards.
TensorId Planner::raw_gradient(ParameterId p) {
  const bool again = added(p);
  const TensorId g = gradient(p);
  const bool cast = recipe_.casts_gradients() && !fused();
  to_add_[static_cast<std::size_t>(p)] = again;
  return cast || again ? like(g, cast ? recipe_.activation_bytes() : spec(g).element_bytes) : g;
}

void Planner::settle_gradient(ParameterId p, TensorId raw) {
  const TensorId g = gradient(p);
  if (to_add_[static_cast<std::size_t>(p)]) {
    stream({raw, g}, {g});
  } else if (raw != g) {
    stream({raw}, {g});
  }
  gave(p);
}

}  // namespace infold::train
