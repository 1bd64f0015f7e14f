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

void Planner::forward_linear(ParameterId p, TensorId in, TensorId out) {
  const int groups = groups_of(p);
  const TensorId w = weight(p);
  if (!eight_bit(p)) return emit(MatMul{.left = in, .right = w, .out = out, .groups = groups});
  const TensorId left = cast(in, groups).straight;
  const TensorId right = cast(w, groups).straight;
  emit(MatMul{.left = left, .right = right, .out = out, .groups = groups});
}

void Planner::data_gradient(ParameterId p, TensorId out, TensorId in) {
  const int groups = groups_of(p);
  const TensorId w = weight(p);
  if (!eight_bit(p))
    return emit(MatMul{.left = out, .right = w, .right_by_k = true, .out = in, .groups = groups});
  const TensorId left = cast(out, groups).straight;
  const TensorId right = cast(w, groups).turned;
  emit(MatMul{.left = left, .right = right, .out = in, .groups = groups});
}

void Planner::weight_gradient(ParameterId p, TensorId in, TensorId out) {
  const int groups = groups_of(p);
  const TensorId raw = raw_gradient(p);
  if (eight_bit(p)) {
    const TensorId left = cast(out, groups).turned;
    const TensorId right = cast(in, groups).turned;
    emit(MatMul{.left = left, .right = right, .out = raw, .groups = groups, .of_weights = true});
  } else {
    emit(MatMul{.left = out,
                .left_by_k = true,
                .right = in,
                .right_by_k = true,
                .out = raw,
                .groups = groups,
                .of_weights = true});
  }
  settle_gradient(p, raw);
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
