// Simulates the step without each cause, and sums up the outcome in a sentence.
#include "study/step/explain_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "study/step/many_steps.h"

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
    case Cause::kSkew:
      return !std::exchange(step.delays, {}).empty();
    case Cause::kLink:
    case Cause::kInteraction:
      return false;
  }
  return false;
}

std::string because(Cause cause, const ExplainResult& e, int sms) {
  switch (cause) {
    case Cause::kSm:
      return fmt::format("it holds {} of {} SMs", e.result.sms, sms);
    case Cause::kHbm:
      return "it takes memory bandwidth";
    case Cause::kL2:
      return "it takes room and bandwidth in the L2 cache";
    case Cause::kSkew:
      return "it waits for late GPUs while it holds its SMs";
    case Cause::kLink:
      return "it fills the links";
    case Cause::kInteraction:
      return "these shortages meet, none of which explains it alone";
  }
  return {};
}

std::string percent(double v) {
  return fmt::format("{:.1f} %", v * 100);
}

}  // namespace

std::optional<StepJob> without(Cause cause, StepJob step) {
  if (!take_away(cause, step)) return std::nullopt;
  return step;
}

std::vector<ExplainResult::Part> parts_of(double slowdown, std::span<const std::optional<double>> left) {
  const double whole = in_millionths(slowdown);
  std::vector<ExplainResult::Part> parts;
  double explained = 0;
  for (std::size_t c = 0; c < kCauseNames.size(); ++c) {
    const Cause cause = kCauseNames[c].value;
    double part = 0;
    if (cause == Cause::kInteraction) {
      part = in_millionths(whole - explained);
    } else if (left[c]) {
      part = in_millionths(whole - in_millionths(*left[c]));
    }
    explained += part;
    parts.push_back({cause, part});
  }
  return parts;
}

sim::Result<ExplainResult> run(const ExplainJob& job, const KeepGoing& keep_going) {
  std::vector<StepJob> jobs = {job.step};
  // GPUs that start late do not all do the same, so a step that is compared with them must be simulated
  // without folding, too.
  if (!job.step.delays.empty()) jobs.front().fold = Fold::kOff;
  std::vector<std::size_t> job_of(
      kCauseNames.size());  // the job of each cause; 0 if there is nothing to remove
  for (std::size_t c = 0; c < kCauseNames.size(); ++c) {
    std::optional<StepJob> step = without(kCauseNames[c].value, jobs.front());
    if (!step) continue;
    job_of[c] = jobs.size();
    jobs.push_back(std::move(*step));
  }
  std::vector<sim::Result<StepResult>> outcomes = run_all(jobs, job.threads, keep_going);
  for (sim::Result<StepResult>& o : outcomes) {
    if (!o) return sim::fail_as(std::move(o));
  }
  std::vector<std::optional<double>> left(kCauseNames.size());
  for (std::size_t c = 0; c < left.size(); ++c) {
    if (job_of[c] > 0) left[c] = outcomes[job_of[c]]->slowdown();
  }
  ExplainResult result;
  result.slowdown = in_millionths(outcomes[0]->slowdown());
  result.parts = parts_of(outcomes[0]->slowdown(), left);
  result.result = std::move(*outcomes[0]);
  return result;
}

std::string in_words(const ExplainResult& e, const std::string& collective, int sms) {
  constexpr double kHardly = 0.005;
  if (e.result.communicating_in_backward == sim::Time{})
    return fmt::format("Nothing is reduced while backward runs, so the {} all-reduce cannot slow it down.",
                       collective);
  if (e.slowdown < kHardly) {
    return fmt::format("The {} all-reduce hardly slows backward down ({:+.1f} %): it runs beside {} of it.",
                       collective, e.slowdown * 100,
                       percent(e.result.communicating_in_backward.in_s() / e.result.backward.in_s()));
  }
  std::vector<ExplainResult::Part> parts = e.parts;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
  constexpr double kWorthNaming = 0.2;  // share of the whole
  std::string text = fmt::format("Backward takes {} longer beside the {} all-reduce, mostly because {} ({})",
                                 percent(e.slowdown), collective, because(parts[0].cause, e, sms),
                                 percent(parts[0].slowdown));
  for (std::size_t i = 1; i < parts.size() && parts[i].slowdown >= kWorthNaming * e.slowdown; ++i)
    text += fmt::format(", and because {} ({})", because(parts[i].cause, e, sms), percent(parts[i].slowdown));
  return text + ".";
}

}  // namespace infold::study
