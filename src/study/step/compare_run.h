// One training step reduced in different ways: after backward, overlapped, and overlapped with nothing
// shared.
#pragma once

#include <optional>
#include <vector>

#include "sim/result.h"
#include "study/collective/method.h"
#include "study/names.h"
#include "study/step/step_run.h"

namespace infold::study {

struct CompareRow {
  Variant variant = Variant::kOverlap;
  Method method;
  StepResult result;
  double speedup_vs_sequential = 1;  ///< relative to the sequential step of the same method
  std::optional<double> repaired;    ///< nothing if overlapped ring does not slow backward down
};

struct CompareResult {
  std::vector<CompareRow> rows;  ///< for each method sequential, overlap, ideal
  double ring_slowdown = 0;      ///< of overlapped ring
};

struct CompareJob {
  StepJob step;  ///< its method and overlap are ignored
  std::vector<Method> methods;
  int threads = 0;
};

/// Those of the methods that carry out some of the step's communication, and programs of the user.
sim::Result<std::vector<Method>> with_use(StepJob step, const std::vector<Method>& methods);
/// The step of a method in one variant.
StepJob variant_of(StepJob step, const Method& method, Variant variant);
/// The part of overlapped ring's slow-down that this method avoids.
std::optional<double> repaired(double slowdown, double ring_slowdown);

sim::Result<CompareResult> run(const CompareJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
