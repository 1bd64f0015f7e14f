// Finds runs of pointwise operations, greedily.
#include "train/planner/fusion.h"

#include <utility>

namespace infold::train {

bool is_norm(const Operation& op) {
  return op.as<BatchNorm>() != nullptr || op.as<LayerNorm>() != nullptr || op.as<RmsNorm>() != nullptr;
}

bool is_pointwise(const Operation& op) {
  return op.join() != nullptr || is_norm(op) || op.as<Activation>() != nullptr || op.as<Dropout>() != nullptr;
}

std::vector<std::vector<int>> fuse(const Graph& graph, Fusion fusion, bool apart) {
  std::vector<int> consumers(graph.values.size());
  for (const Operation& op : graph.operations) {
    for (const ValueId v : op.inputs) ++consumers[static_cast<std::size_t>(v)];
  }
  std::vector<std::vector<int>> groups;
  std::vector<bool> normed;                              // by group: it has a normalisation
  std::vector<std::size_t> ending(graph.values.size());  // by value: the run that ends with it, plus one
  const auto run_before = [&](const Operation& op) -> std::size_t {
    if (fusion != Fusion::kFused || !is_pointwise(op) || op.as<BatchNorm>() != nullptr) return 0;
    const auto v = static_cast<std::size_t>(op.inputs[0]);
    const std::size_t run = ending[v];
    if (run == 0 || consumers[v] != 1 || (normed[run - 1] && is_norm(op))) return 0;
    const int last = groups[run - 1].back();
    return apart && graph.operations[static_cast<std::size_t>(last)].repetition != op.repetition ? 0 : run;
  };
  for (int i = 0; i < static_cast<int>(graph.operations.size()); ++i) {
    const Operation& op = graph.operations[static_cast<std::size_t>(i)];
    const std::size_t run = run_before(op);
    if (run != groups.size() || run == 0) {
      // A run that a join takes with it leaves an empty group in its place.
      groups.push_back(run == 0 ? std::vector<int>{} : std::exchange(groups[run - 1], {}));
      normed.push_back(run != 0 && normed[run - 1]);
    }
    groups.back().push_back(i);
    normed.back() = normed.back() || is_norm(op);
    if (is_pointwise(op)) ending[static_cast<std::size_t>(op.output)] = groups.size();
  }
  std::erase_if(groups, [](const auto& group) { return group.empty(); });
  return groups;
}

}  // namespace infold::train
