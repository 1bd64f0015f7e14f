// The study of overlap: training steps and bare all-reduces on several machines, each by several methods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "study/step/compare_run.h"
#include "study/step/explain_run.h"
#include "study/step/step_run.h"

namespace infold::study {

/// A training step to be reduced by several methods, the first of which the others are measured against.
struct OverlapCase {
  StepJob step;  ///< its method and overlap are ignored
  std::vector<Method> methods;
  bool heavy = false;    ///< it communicates much, so a slow-down is expected and can be repaired
  bool explain = false;  ///< what slows backward down beside the first method, cause by cause
};
/// All-reduces by themselves, size after size.
struct SizeWindow {
  SystemPtr system;
  int gpus = 0;
  std::vector<Method> methods;  ///< as in a case
  std::vector<sim::Bytes> sizes;
  /// Larger sizes are not simulated: their time is on the line through this size and half of it. 0: all are.
  sim::Bytes simulate_to = {};

  bool is_simulated(sim::Bytes size) const { return simulate_to == sim::Bytes{} || size <= simulate_to; }
};
struct OverlapJob {
  std::vector<OverlapCase> cases;
  std::vector<SizeWindow> windows;
  int threads = 0;
};

/// The result of a method, or the reason why the machine does not offer it.
template <class Result>
struct MethodResult {
  Method method;
  std::optional<Result> result;
  std::string refused;
};

struct OverlapCaseResult {
  StepResult sequential;                          ///< by the first method
  std::vector<MethodResult<StepResult>> overlap;  ///< by method
  std::vector<CausePart> causes;                  ///< of the first method's slow-down, if the case asks
  double slowdown() const { return overlap.front().result->slowdown(); }
  double speedup(const StepResult& r) const { return sequential.step().in_s() / r.step().in_s(); }
};
struct SizeWindowResult {
  /// Indexed by method and size.
  std::vector<MethodResult<std::vector<sim::Time>>> times;
  /// The range of sizes, by index, in which a method always beats the first one: the longest such range.
  struct Wins {
    std::size_t first = 0, last = 0;
  };
  std::optional<Wins> wins(std::size_t method) const;
};
struct OverlapResult {
  std::vector<OverlapCaseResult> cases;
  std::vector<SizeWindowResult> windows;
  /// The slow-down of backward while collectives of the first method ran, as a mean over the cases in which
  /// they did.
  double mean_slowdown_beside() const;
};

/// Fails if the first method cannot be run; if another cannot, the result says so.
sim::Result<OverlapResult> run(const OverlapJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
