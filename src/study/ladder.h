// The ladder of fidelity against itself: the same training steps composed and in bursts on every GPU, side by
// side. The figures of `fidelity_error` come from here.
#pragma once

#include <string>
#include <vector>

#include "study/campaign/command_run.h"
#include "study/validation_run.h"

namespace infold::study {

/// A step that is simulated at both levels.
struct LadderCase {
  std::string id;
  std::string run;             ///< a command, without its level
  std::string in_bursts = {};  ///< what the command in bursts has besides
};
/// The cases of the study of overlap by each of their algorithms, and steps of other layouts.
std::vector<LadderCase> ladder_cases();

/// What both levels say of a step.
struct LadderLevels {
  double burst = 0;
  double composed = 0;
  double error() const { return burst == 0 ? 0 : composed / burst - 1; }
};
struct LadderRow {
  LadderCase what;
  LadderLevels step_ms = {};
  LadderLevels slowdown = {};  ///< of backward, a fraction
  LadderLevels exposed_ms = {};
  std::string failed = {};  ///< why there are no figures

  /// What is accepted: the step within 2 %, the slow-down within 2 percentage points, exposed communication
  /// within 10 %, or by so little of the step that it does not matter.
  bool within() const;
};

struct LadderJob {
  std::vector<LadderCase> cases;
  int threads = 0;
  RunCommand run;
  ReadFigure read;
};
/// One row for each case, in their order.
sim::Result<std::vector<LadderRow>> run(const LadderJob& job, const ValidationGoesOn& goes_on);

}  // namespace infold::study
