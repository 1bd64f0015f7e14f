// Why a step is slower than its kernels alone: the same step again, each time with one kind of sharing off.
//
// A cause is what a slow-down shrinks by when it alone is removed. What is left when nothing is shared is
// waiting. Without one cause another may become the bottleneck, so causes need not add up to the whole; what
// is missing (or too much) is their interaction.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/params.h"
#include "sim/result.h"
#include "study/step/step_run.h"

namespace infold::study {

enum class Cause : std::uint8_t { kSm, kHbm, kL2, kLink, kSkew, kWait, kBubble, kInteraction };
inline constexpr std::array kCauseNames = {
    sim::Named{Cause::kSm, "sm", "collectives hold SMs"},
    sim::Named{Cause::kHbm, "hbm", "collectives use memory bandwidth"},
    sim::Named{Cause::kL2, "l2", "collectives use the cache and its bandwidth"},
    sim::Named{Cause::kLink, "link", "collectives of several communicators share links and switches"},
    sim::Named{Cause::kSkew, "skew", "collectives wait for late GPUs, and hold what they hold meanwhile"},
    sim::Named{Cause::kWait, "wait", "compute waits for communication, even if nothing were shared"},
    sim::Named{Cause::kBubble, "bubble",
               "stages of a pipeline wait for stages that have nothing to send yet"},
    sim::Named{Cause::kInteraction, "interaction", "what the causes do together, beyond each alone"},
};
constexpr std::span<const sim::Named<Cause>> names_of(Cause) {
  return kCauseNames;
}

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
};

struct ExplainJob {
  StepJob step;
  int threads = 0;
};

sim::Result<ExplainResult> run(const ExplainJob& job, const KeepGoing& keep_going);

}  // namespace infold::study
