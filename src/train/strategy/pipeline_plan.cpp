// Cuts the model, plans the parts and makes the schedule.
#include <fmt/format.h>

#include <algorithm>

#include <map>
#include <set>

#include "train/stage_memory.h"
#include "train/strategy/pipeline.h"

namespace infold::train {

namespace {

sim::Status check_experts(const Graph& model, const Split& split) {
  if (split.ep == 1 ||
      std::ranges::any_of(model.operations, [](const Operation& op) { return op.as<Experts>() != nullptr; }))
    return {};
  return sim::fail("the model has no experts that could be divided among ranks", "ep");
}

/// A stage has one gradient of each parameter.
sim::Status check_shared(const PipelinePlan& plan) {
  for (const ParameterId p : shared_parameters(plan.parts)) {
    std::set<int> stages;
    for (std::size_t part = 0; part < plan.parts.size(); ++part) {
      const auto& here = plan.parts[part].parameters;
      if (std::ranges::find(here, p) == here.end()) continue;
      if (!stages.insert(static_cast<int>(part) % plan.stages).second)
        return sim::fail("two parts of the model on one stage share a parameter: take other stages");
    }
  }
  return {};
}

/// The most operations of all stages and micro-batches together; the graph then takes some gigabytes.
constexpr std::int64_t kMostOps = 2'000'000;

}  // namespace

std::vector<Plan> PipelinePlan::plans_of(int stage) const {
  std::vector<Plan> all;
  all.reserve(static_cast<std::size_t>(spec.virtual_stages));
  for (int c = 0; c < spec.virtual_stages; ++c)
    all.push_back(plans[static_cast<std::size_t>(part_of(stage, c))]);
  return all;
}

sim::Result<PipelinePlan> plan_pipeline(const Graph& model, Recipe recipe, const PipelineSpec& spec,
                                        int stages, const Split& split) {
  if (auto checked = check_pipeline(spec, stages); !checked) return sim::fail_as(std::move(checked));
  // A stage may have no experts, but not all stages.
  if (auto checked = check_experts(model, split); !checked) return sim::fail_as(std::move(checked));
  auto parts = cut_into_parts(model, stages * spec.virtual_stages);
  if (!parts) return sim::fail_as(std::move(parts));
  PipelinePlan plan{
      .spec = spec, .stages = stages, .parts = std::move(*parts), .schedule = make_schedule(spec, stages)};
  if (auto checked = check_shared(plan); !checked) return sim::fail_as(std::move(checked));
  recipe.accumulate = spec.micro_batches;
  for (const ModelPart& part : plan.parts) {
    auto made = make_plan(part.graph, recipe, split);
    if (!made) return sim::fail_as(std::move(made));
    plan.plans.push_back(std::move(*made));
  }
  std::int64_t ops = 0;
  for (const Plan& p : plan.plans) ops += static_cast<std::int64_t>(p.ops.size()) * spec.micro_batches;
  if (ops > kMostOps) {
    return sim::fail(fmt::format("{} micro-batches are {:.1f} million kernels, more than {} million",
                                 spec.micro_batches, static_cast<double>(ops) * 1e-6, kMostOps / 1'000'000),
                     "micro_batches");
  }
  return plan;
}

MemoryNeed memory_need(const PipelinePlan& plan, int stage) {
  return stage_memory(plan.plans_of(stage), plan.schedule[static_cast<std::size_t>(stage)],
                      plan.spec.receives_ahead());
}

}  // namespace infold::train
