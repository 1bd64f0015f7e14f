// Finds groups by the axis of each parameter, and tensors by what the plan reads first.
#include "train/strategy/step_rules.h"

#include <set>

#include "train/strategy/sharding.h"

namespace infold::train {

ExchangedTensors exchanged_tensors(const Plan& plan) {
  ExchangedTensors tensors;
  std::vector<bool> written(plan.tensors.size());
  std::set<TensorId> unread;
  for (const Op& op : plan.ops) {
    for (const TensorId t : reads_of(op)) unread.erase(t);
    for (const TensorId t : reads_of(op)) {
      if (!written[static_cast<std::size_t>(t)]) tensors.given.push_back(t);
    }
    for (const TensorId t : writes_of(op)) written[static_cast<std::size_t>(t)] = true;
    const Communicate* c = op.communication();
    if (c != nullptr) unread.insert(c->out);
    if (c != nullptr && c->in == c->out && coll::reduces(c->what)) tensors.partial.push_back(c->in);
  }
  tensors.results.assign(unread.begin(), unread.end());
  return tensors;
}

work::StepRules rules_of(const StepRequest& request) {
  const Plan& plan = request.plan;
  const Sharding sharding = sharding_of(request.sync.kind);
  const bool every_pass = sharding == Sharding::kGradients || sharding == Sharding::kParameters;
  work::StepRules rules{.parameters = {}, .passes = every_pass ? request.passes : 1};
  for (int p = 0; p < static_cast<int>(plan.parameter_elements.size()); ++p) {
    const Axis axis = plan.axis_of(p);
    work::ParameterRule rule{.replicas = groups_of(request.layout, axis)};
    for (int r = 0; size_of(request.layout, axis) == 1 && r < request.layout.ranks(); ++r)
      rule.replicas.push_back({r});
    if (sharding == Sharding::kParameters)
      rule.shards = shard_groups(request.sync, request.layout, axis).shards;
    rules.parameters.push_back(std::move(rule));
  }
  ExchangedTensors tensors = exchanged_tensors(plan);
  rules.partial = std::move(tensors.partial);
  for (const TensorId t : tensors.results) rules.results.push_back({.tensor = t});
  // The passes before the last have tensors of their own.
  if (rules.passes == 1) rules.given = std::move(tensors.given);
  return rules;
}

}  // namespace infold::train
