// Builds the jobs of a comparison and puts their results side by side.
#include "study/step/compare_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "study/step/many_steps.h"
#include "study/step/planned_step.h"
#include "study/step/step_programs.h"

namespace infold::study {

namespace {
/// A slow-down below this is rounding, and there is nothing to repair.
constexpr double kNothing = 1e-4;

Method ring() {
  return {coll::find_algorithm("ring"), coll::Engine::kSm};
}
}  // namespace

sim::Result<std::vector<Method>> with_use(StepJob step, const std::vector<Method>& methods) {
  auto layout = train::fill(step.layout, step.gpus);
  if (!layout) return sim::fail_as(std::move(layout));
  step.layout = *layout;
  const auto planned = plan_step(step);
  if (!planned) return sim::fail_as(planned);
  const auto all = communications_of(planned->graph);
  std::vector<Method> used;
  std::ranges::copy_if(methods, std::back_inserter(used), [&](const Method& m) {
    return m.program != nullptr || check_has_use(m, all).has_value();
  });
  return used;
}

StepJob variant_of(StepJob step, const Method& method, Variant variant) {
  step.method = method;
  step.overlap = variant != Variant::kSequential;
  // Networks of their own are not simulated between nodes, so links stay shared there.
  const bool links_shared = step.system->machine.nodes > 1;
  if (variant == Variant::kIdeal)
    step.core.contention = {.sm = false, .l2 = false, .hbm = false, .link = links_shared};
  return step;
}

std::optional<double> repaired(double slowdown, double ring_slowdown) {
  if (ring_slowdown < kNothing) return std::nullopt;
  return 1 - slowdown / ring_slowdown;
}

sim::Result<CompareResult> run(const CompareJob& job, const KeepGoing& keep_going) {
  CompareResult result;
  std::vector<StepJob> jobs;
  for (const Method& m : job.methods) {
    for (const auto& v : kVariantNames) {
      jobs.push_back(variant_of(job.step, m, v.value));
      result.rows.push_back({.variant = v.value, .method = m, .result = {}, .repaired = std::nullopt});
    }
  }
  // What other methods repair is measured against overlapped ring, whether that was asked for or not.
  auto baseline = static_cast<std::size_t>(std::find(job.methods.begin(), job.methods.end(), ring()) -
                                           job.methods.begin());
  if (baseline == job.methods.size()) {
    baseline = jobs.size();
    jobs.push_back(variant_of(job.step, ring(), Variant::kOverlap));
  } else {
    baseline = baseline * kVariantNames.size() + 1;
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    // A step that is not shown as a row is not traced either.
    if (job.step.trace) jobs[i].trace = job.step.trace->shared_by(result.rows.size());
    if (i >= result.rows.size()) jobs[i].trace.reset();
  }
  std::vector<sim::Result<StepResult>> outcomes = run_all(jobs, job.threads, keep_going);
  for (sim::Result<StepResult>& o : outcomes) {
    if (!o) return sim::fail_as(std::move(o));
  }
  result.ring_slowdown = outcomes[baseline]->slowdown();
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    CompareRow& row = result.rows[i];
    row.result = std::move(*outcomes[i]);
    const CompareRow& sequential = result.rows[i / kVariantNames.size() * kVariantNames.size()];
    row.speedup_vs_sequential = sequential.result.step().in_s() / row.result.step().in_s();
    row.repaired = repaired(row.result.slowdown(), result.ring_slowdown);
  }
  return result;
}

}  // namespace infold::study
