// Which kernels run again in backward, and which of them nothing needs.
#include "train/planner/recompute.h"

#include <algorithm>
#include <utility>

#include "train/planner/fusion.h"
#include "train/planner/planner.h"

namespace infold::train {

bool Planner::runs_again(const std::vector<int>& group) const {
  return recipe_.recompute == Recompute::kFull || is_pointwise(operation(group.front()));
}

/// Values of the repetition are made again as other tensors, so that the memory of the first ones is free
/// after their last use in forward. What is used elsewhere is kept.
void Planner::run_again(int repetition) {
  again_ = true;
  gathered_.assign(gathered_.size(), kNone);
  const auto belongs = [&](const auto& group) { return operation(group.front()).repetition == repetition; };
  for (const auto& group : groups_) {
    if (!belongs(group) || !runs_again(group)) continue;
    for (const int i : group) {
      const auto v = static_cast<std::size_t>(operation(i).output);
      kept_[static_cast<std::size_t>(i)].clear();
      if (!outlives_[v]) values_[v] = kNone;
    }
  }
  for (const auto& group : groups_) {
    if (belongs(group) && runs_again(group)) forward(group);
  }
  gathered_.assign(gathered_.size(), kNone);
  again_ = false;
}

void drop_unread(Plan& plan) {
  std::vector<bool> read(plan.tensors.size());
  std::vector<bool> kept(plan.ops.size(), true);
  for (std::size_t i = plan.ops.size(); i-- > 0;) {
    const Op& op = plan.ops[i];
    // Parts are read under another name, so what writes them stays.
    const auto needed = [&](TensorId t) {
      return read[static_cast<std::size_t>(t)] ||
             plan.tensors[static_cast<std::size_t>(t)].role != TensorSpec::Role::kPassing;
    };
    kept[i] = !op.again || std::ranges::any_of(writes_of(op), needed);
    if (!kept[i]) continue;
    for (const TensorId t : reads_of(op)) read[static_cast<std::size_t>(t)] = true;
  }
  std::vector<Op> ops;
  std::vector<int> now_at(plan.ops.size());
  for (std::size_t i = 0; i < plan.ops.size(); ++i) {
    if (kept[i]) ops.push_back(std::move(plan.ops[i]));
    now_at[i] = static_cast<int>(ops.size()) - 1;
  }
  plan.ops = std::move(ops);
  for (GradientReady& r : plan.ready) r.op = now_at[static_cast<std::size_t>(r.op)];
}

}  // namespace infold::train
