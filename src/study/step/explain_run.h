// Why a step is slower than its kernels alone: the same step again, each time with one kind of sharing off.
//
// A cause is what a slow-down shrinks by when it alone is removed. What is left when nothing is shared is
// waiting. Without one cause another may become the bottleneck, so causes need not add up to the whole; what
// is missing (or too much) is their interaction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sim/result.h"
#include "study/names.h"
#include "study/step/step_run.h"

namespace infold::study {

struct CausePart {
  Cause cause = Cause::kSm;
  double slowdown = 0;
};
/// A slow-down against the same without communication, in steps of a millionth, and its causes, which add up
/// to it.
struct Causes {
  double slowdown = 0;
  std::vector<CausePart> parts;
};

/// Why the kernels of one class ran slower. Nothing of this is waiting.
struct KernelCauses {
  KernelClass what = KernelClass::kProduct;
  Causes causes;
};

struct ExplainResult {
  StepResult result;  ///< with everything as it is
  Causes step;
  Causes forward;  ///< of the last pass, as backward
  Causes backward;
  std::vector<KernelCauses> kernels;  ///< by class, as in `result`
  /// Whether several communicators are at work, so that links can be shared; without it the cause is 0.
  bool links_are_shared() const { return result.communicators > 1; }
  /// Why there is no figure for the cause `link`; empty if there is one.
  std::string_view why_no_link() const {
    if (!links_are_shared()) return "nothing shares links: one communicator";
    return several_nodes ? "not told apart from others on several nodes" : "";
  }
  bool several_nodes = false;
};

struct ExplainJob {
  StepJob step;
  int threads = 0;
};

/// The step without one cause; nothing if there is nothing to remove. Waiting is what is left without all the
/// others, so without `kWait` means without those.
std::optional<StepJob> without(Cause cause, StepJob step);
/// What each cause contributes to a slow-down. `left` has, by cause, the slow-down of the step that `without`
/// makes; nothing where it made none. What is left without sharing is waiting and copying; `left` has both
/// apart.
std::vector<CausePart> parts_of(double slowdown, std::span<const std::optional<double>> left);

sim::Result<ExplainResult> run(const ExplainJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
