// Finds runs of pointwise operations, greedily.
#include "train/fusion.h"

namespace infold::train {

bool is_norm(const Operation& op) {
  return op.as<BatchNorm>() != nullptr || op.as<LayerNorm>() != nullptr || op.as<RmsNorm>() != nullptr;
}

bool is_pointwise(const Operation& op) {
  return op.join() != nullptr || is_norm(op) || op.as<Activation>() != nullptr || op.as<Dropout>() != nullptr;
}

std::vector<std::vector<int>> fuse(const Graph& graph, Fusion fusion) {
  std::vector<int> consumers(graph.values.size());
  for (const Operation& op : graph.operations) {
    for (const ValueId v : op.inputs) ++consumers[static_cast<std::size_t>(v)];
  }
  std::vector<std::vector<int>> groups;
  bool normed = false;  // the last group has a normalisation
  for (int i = 0; i < static_cast<int>(graph.operations.size()); ++i) {
    const Operation& op = graph.operations[static_cast<std::size_t>(i)];
    bool joins = fusion == Fusion::kFused && i > 0 && is_pointwise(op);
    if (joins) {
      const Operation& before = graph.operations[static_cast<std::size_t>(i - 1)];
      joins = is_pointwise(before) && op.inputs[0] == before.output &&
              consumers[static_cast<std::size_t>(before.output)] == 1 && op.as<BatchNorm>() == nullptr &&
              !(normed && is_norm(op));
    }
    if (!joins) {
      groups.emplace_back();
      normed = false;
    }
    groups.back().push_back(i);
    normed = normed || is_norm(op);
  }
  return groups;
}

}  // namespace infold::train
