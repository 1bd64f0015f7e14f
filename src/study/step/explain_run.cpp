// Simulates the step without each cause, and without all of them.
#include "study/step/explain_run.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "study/step/many_steps.h"
#include "study/step/planned_step.h"

namespace infold::study {

namespace {

/// Slow-downs are kept in millionths, so that sums are exact wherever they are printed.
double in_millionths(double v) {
  return std::round(v * 1e6) / 1e6;
}

/// Removes one cause from the step; returns false if there is nothing to remove.
bool take_away(Cause cause, StepJob& step) {
  gpu::Contention& shared = step.core.contention;
  switch (cause) {
    case Cause::kSm:
      return std::exchange(shared.sm, false);
    case Cause::kHbm:
      return std::exchange(shared.hbm, false);
    case Cause::kL2:
      return std::exchange(shared.l2, false);
    case Cause::kLink:
      // Networks of their own are not simulated between nodes, so links stay shared there.
      return step.system->machine.nodes == 1 && std::exchange(shared.link, false);
    case Cause::kSkew:
      return !std::exchange(step.delays, {}).empty();
    case Cause::kWait:
    case Cause::kCopy:
    case Cause::kBubble:
    case Cause::kInteraction:
      return false;
  }
  return false;
}

/// The results that causes are read from.
struct Runs {
  std::vector<StepResult> results;
  std::vector<std::size_t> without;  ///< by cause: the result without it; 0 if there is nothing to remove
  std::size_t ideal = 0;             ///< the result without all of them

  using Share = std::function<double(const StepResult&)>;

  /// What a quantity loses to each cause. `bubble`, `copies`: the parts of what is left without sharing that
  /// are these.
  Causes causes_of(const Share& slowdown, const Share& bubble, const Share& copies) const {
    Causes all;
    all.slowdown = in_millionths(slowdown(results.front()));
    const double left = in_millionths(slowdown(results[ideal]));
    const double idle = in_millionths(std::clamp(bubble(results[ideal]), 0.0, std::max(left, 0.0)));
    const double copied = in_millionths(std::clamp(copies(results[ideal]), 0.0, std::max(left - idle, 0.0)));
    double explained = 0;
    for (std::size_t c = 0; c < kCauseNames.size(); ++c) {
      const Cause cause = kCauseNames[c].value;
      double part = in_millionths(all.slowdown - in_millionths(slowdown(results[without[c]])));
      if (cause == Cause::kWait) part = in_millionths(left - idle - copied);
      if (cause == Cause::kCopy) part = copied;
      if (cause == Cause::kBubble) part = idle;
      if (cause == Cause::kInteraction) part = in_millionths(all.slowdown - explained);
      explained += part;
      all.parts.push_back({cause, part});
    }
    return all;
  }
};

sim::Result<Runs> simulate(const ExplainJob& job, const KeepGoing& keep_going) {
  Runs runs;
  std::vector<StepJob> jobs = {job.step};
  // GPUs that start late do not all do the same, so a step that is compared with them must be simulated
  // without folding, too.
  if (!job.step.delays.empty()) jobs.front().fold = Fold::kOff;
  auto layout = train::fill(job.step.layout, job.step.gpus);
  if (!layout) return sim::fail_as(std::move(layout));
  jobs.front().layout = *layout;
  const auto planned = plan_step(jobs.front());
  if (!planned) return sim::fail(planned.error());
  // Without links to share, their removal changes nothing.
  const bool links = used_communicators(planned->graph) > 1;
  runs.without.resize(kCauseNames.size());
  StepJob ideal = jobs.front();
  for (std::size_t c = 0; c < kCauseNames.size(); ++c) {
    const Cause cause = kCauseNames[c].value;
    StepJob step = jobs.front();
    if ((cause == Cause::kLink && !links) || !take_away(cause, step)) continue;
    take_away(cause, ideal);
    runs.without[c] = jobs.size();
    jobs.push_back(std::move(step));
  }
  if (jobs.size() > 2) {
    runs.ideal = jobs.size();
    jobs.push_back(std::move(ideal));
  } else {
    runs.ideal = jobs.size() - 1;  // there is one cause at most
  }
  for (sim::Result<StepResult>& o : run_all(jobs, job.threads, keep_going)) {
    if (!o) return sim::fail_as(std::move(o));
    runs.results.push_back(std::move(*o));
  }
  return runs;
}

double slowdown_of(const StepResult& r, KernelClass what) {
  const auto use = std::ranges::find(r.kernels, what, &KernelUse::what);
  return use == r.kernels.end() ? 0 : use->slowdown();
}

}  // namespace

std::optional<StepJob> without(Cause cause, StepJob step) {
  // Where one communicator is at work, no links are shared.
  if (cause == Cause::kLink) {
    const auto planned = plan_step(step);
    if (!planned || used_communicators(planned->graph) < 2) return std::nullopt;
  }
  if (cause == Cause::kWait) {
    for (const auto& shared : kCauseNames) take_away(shared.value, step);
    return step;
  }
  if (!take_away(cause, step)) return std::nullopt;
  return step;
}

std::vector<CausePart> parts_of(double slowdown, std::span<const std::optional<double>> left) {
  const double whole = in_millionths(slowdown);
  std::vector<CausePart> parts;
  double explained = 0;
  for (std::size_t c = 0; c < kCauseNames.size(); ++c) {
    const Cause cause = kCauseNames[c].value;
    double part = 0;
    if (cause == Cause::kInteraction) {
      part = in_millionths(whole - explained);
    } else if (left[c] && (cause == Cause::kWait || cause == Cause::kCopy)) {
      part = in_millionths(*left[c]);
    } else if (left[c]) {
      part = in_millionths(whole - in_millionths(*left[c]));
    }
    explained += part;
    parts.push_back({cause, part});
  }
  return parts;
}

sim::Result<ExplainResult> run(const ExplainJob& job, const KeepGoing& keep_going) {
  auto simulated = simulate(job, keep_going);
  if (!simulated) return sim::fail_as(std::move(simulated));
  Runs& runs = *simulated;
  const auto none = [](const StepResult&) { return 0.0; };
  const auto share = [](sim::Time part, sim::Time whole) { return part.in_s() / whole.in_s(); };
  ExplainResult e;
  e.several_nodes = job.step.system->machine.nodes > 1;
  e.step = runs.causes_of([](const StepResult& r) { return r.step().in_s() / r.step_alone().in_s() - 1; },
                          [&](const StepResult& r) { return share(r.bubble, r.step_alone()); },
                          [&](const StepResult& r) { return share(r.all_copied(), r.step_alone()); });
  e.forward = runs.causes_of(std::mem_fn(&StepResult::forward_slowdown), none, [&](const StepResult& r) {
    return share(r.copied.forward, r.alone.times.forward());
  });
  e.backward = runs.causes_of(std::mem_fn(&StepResult::slowdown), none, [&](const StepResult& r) {
    return share(r.copied.backward, r.alone.times.backward());
  });
  for (const KernelUse& k : runs.results.front().kernels) {
    Causes causes = runs.causes_of([&](const StepResult& r) { return slowdown_of(r, k.what); }, none, none);
    // A kernel does not wait once it has begun: what is left without sharing is an effect of when it ran.
    std::erase_if(causes.parts,
                  [&](const CausePart& p) { return p.cause == Cause::kBubble || p.cause == Cause::kCopy; });
    const auto wait = std::ranges::find(causes.parts, Cause::kWait, &CausePart::cause);
    causes.parts.back().slowdown = in_millionths(causes.parts.back().slowdown + wait->slowdown);
    causes.parts.erase(wait);
    e.kernels.push_back({k.what, std::move(causes)});
  }
  e.result = std::move(runs.results.front());
  return e;
}

}  // namespace infold::study
