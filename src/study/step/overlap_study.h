// The study of overlap: training steps and bare all-reduces on several machines, each by several methods.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/result.h"
#include "study/collective/collective_run.h"
#include "study/collective/method.h"
#include "study/step/compare_run.h"
#include "study/step/step_run.h"

namespace infold::study {

/// A training step to be reduced by several methods, the first of which the others are measured against.
struct OverlapCase {
  StepJob step;  ///< its method and overlap do not count
  std::vector<Method> methods;
  bool heavy = false;  ///< communication-heavy: a slow-down is expected, and something to be repaired
};
/// All-reduces by themselves, size after size.
struct SizeWindow {
  SystemPtr system;
  int gpus = 0;
  std::vector<Method> methods;  ///< as in a case
  std::vector<sim::Bytes> sizes;
};
struct OverlapJob {
  std::vector<OverlapCase> cases;
  std::vector<SizeWindow> windows;
  int threads = 0;
};

/// A method's result, or why the machine does not offer it.
template <class Result>
struct MethodResult {
  Method method;
  std::optional<Result> result;
  std::string refused;
};

struct OverlapCaseResult {
  StepResult sequential;                          ///< by the first method
  std::vector<MethodResult<StepResult>> overlap;  ///< by method
  double slowdown() const { return overlap.front().result->slowdown(); }
  double speedup(const StepResult& r) const { return sequential.step().in_s() / r.step().in_s(); }
};
struct SizeWindowResult {
  /// By method and size.
  std::vector<MethodResult<std::vector<sim::Time>>> times;
  /// From which size to which a method beats the first one without a break, by index; the longest such run.
  struct Wins {
    std::size_t first = 0, last = 0;
  };
  std::optional<Wins> wins(std::size_t method) const;
};
struct OverlapResult {
  std::vector<OverlapCaseResult> cases;
  std::vector<SizeWindowResult> windows;
  /// Of backward while the first method's collectives ran, mean over the cases in which they did.
  double mean_slowdown_beside() const;
};

/// Refused: what the first method can not do; what others can not is in the result.
sim::Result<OverlapResult> run(const OverlapJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
