// A stage's ranks hold its part of the model. What a plan receives from another stage is not there before,
// so a message that is missing is noticed.
#include <algorithm>
#include <map>
#include <set>

#include "train/strategy/step_rules.h"

namespace infold::train {

namespace {

/// The ranks of a stage that hold the same part of a parameter, group by group. Stages have the same groups.
std::vector<std::vector<int>> replicas_of(const Layout& layout, Axis axis, int stage) {
  std::vector<std::vector<int>> groups;
  const int ranks = layout.ranks() / layout.pp;
  for (const auto& group : groups_of(layout, axis)) {
    if (group.front() / ranks == stage) groups.push_back(group);
  }
  for (int r = 0; size_of(layout, axis) == 1 && r < ranks; ++r) groups.push_back({stage * ranks + r});
  return groups;
}

/// Adds a stage's ranks to the rule of a parameter. What two stages hold is updated from the gradients of
/// both: a rank and those at its place in the other stages are replicas.
void add(work::ParameterRule& rule, std::vector<std::vector<int>> groups) {
  if (rule.replicas.empty()) {
    rule.replicas = std::move(groups);
    return;
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    rule.replicas[i].insert(rule.replicas[i].end(), groups[i].begin(), groups[i].end());
}

/// Where the tensors of a part's plan lie in the graph; micro-batches have places of their own.
class TensorsOfPart {
 public:
  TensorsOfPart(const PipelineRequest& request, const PipelineStep& step, int part) {
    for (const PassOps& pass : step.passes) {
      if (request.plan.part_of(pass.stage, pass.pass.chunk) != part) continue;
      for (const auto& [id, op] : kernels_of(request.plan, step.graph, pass)) {
        const Plan& plan = request.plan.plans[static_cast<std::size_t>(part)];
        const work::Touched theirs = work::touched(*plan.ops[static_cast<std::size_t>(op)].kernel());
        const work::Touched here = work::touched(std::get<work::Kernel>(step.graph[id].what).what);
        for (std::size_t i = 0; i < here.reads.size(); ++i) places_[theirs.reads[i]].insert(here.reads[i]);
        for (std::size_t i = 0; i < here.writes.size(); ++i) places_[theirs.writes[i]].insert(here.writes[i]);
      }
    }
  }
  std::vector<TensorId> of(const std::vector<TensorId>& plan_tensors) const {
    std::vector<TensorId> all;
    for (const TensorId t : plan_tensors) {
      if (const auto at = places_.find(t); at != places_.end())
        all.insert(all.end(), at->second.begin(), at->second.end());
    }
    return all;
  }

 private:
  std::map<TensorId, std::set<TensorId>> places_;
};

}  // namespace

work::StepRules rules_of(const PipelineRequest& request, const PipelineStep& step) {
  const PipelinePlan& plan = request.plan;
  int parameters = 0;
  for (const ModelPart& part : plan.parts) {
    for (const ParameterId p : part.parameters) parameters = std::max(parameters, p + 1);
  }
  work::StepRules rules{.parameters = {}, .passes = plan.spec.micro_batches};
  rules.parameters.resize(static_cast<std::size_t>(parameters));
  rules.given.emplace();
  for (int part = 0; part < static_cast<int>(plan.parts.size()); ++part) {
    const auto index = static_cast<std::size_t>(part);
    const int stage = part % plan.stages;
    const std::vector<ParameterId>& held = plan.parts[index].parameters;
    for (std::size_t p = 0; p < held.size(); ++p) {
      const Axis axis = plan.plans[index].axis_of(static_cast<ParameterId>(p));
      add(rules.parameters[static_cast<std::size_t>(held[p])], replicas_of(request.layout, axis, stage));
    }
    ExchangedTensors tensors = exchanged_tensors(plan.plans[index]);
    const Ends& ends = plan.plans[index].ends;
    std::erase_if(tensors.given,
                  [&](TensorId t) { return t == ends.received || t == ends.received_gradient; });
    const TensorsOfPart places(request, step, part);
    for (const TensorId t : places.of(tensors.given)) rules.given->push_back(t);
    for (const TensorId t : places.of(tensors.partial)) rules.partial.push_back(t);
    for (const TensorId t : places.of(tensors.results))
      rules.results.push_back({.tensor = t, .script = stage});
    for (const TensorId t : tensors.results)  // some are of the update alone, which no micro-batch has
      rules.results.push_back({.tensor = step.first_tensors[index] + t, .script = stage});
  }
  return rules;
}

}  // namespace infold::train
