// What measured times say of a machine: whether they are as expected, and which cause explains them where
// they are not.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "sim/params.h"
#include "sim/result.h"
#include "study/doctor/causes.h"
#include "study/doctor/curves.h"
#include "study/doctor/measured_curve.h"

namespace infold::study {

enum class Verdict { kAsExpected, kLost, kUnclear };
inline constexpr std::array kVerdictNames = {
    sim::Named{Verdict::kAsExpected, "as-expected", "no slower than the model's own error allows"},
    sim::Named{Verdict::kLost, "lost", "slower, and one cause explains it clearly better than all others"},
    sim::Named{Verdict::kUnclear, "unclear", "slower, and no cause explains it clearly better than the next"},
};
constexpr std::span<const sim::Named<Verdict>> names_of(Verdict) {
  return kVerdictNames;
}

/// A cause with the degree of it that fits best.
struct CauseFit {
  std::size_t cause = 0;
  std::size_t variant = 0;
  /// The mean distance of measured from simulated times, as a fraction; no point counts more than a factor
  /// of two.
  double fit = 0;
  std::vector<Times> times;  ///< of Diagnosis::tested, in that order
};

struct Diagnosis {
  Verdict verdict = Verdict::kUnclear;
  std::vector<ExpectedCurve> curves;
  std::vector<Times> allowed;  ///< up to these times, points are as expected
  std::vector<bool> slow;      ///< by curve: whether it is slower than expected
  double fit = 0;              ///< of what is expected, over the curves that are tested, or all
  /// The curves that causes are tested on: no more than three, because each costs seconds per cause. Slow
  /// ones come first, but a cause must also fit one that is as expected, if there is one.
  std::vector<std::size_t> tested;
  std::vector<LossCause> causes;  ///< that were tested; none if all is as expected
  std::vector<CauseFit> fits;     ///< of each cause that can be simulated, the best first
  /// With a cause: how many times further off the next best is.
  double margin = 0;
  /// Causes of the same kind that fit about as well, places in `fits`.
  std::vector<std::size_t> same_as;
};

/// Times that are measured twice differ by this, a fraction.
inline constexpr double kNoise = 0.03;

/// Judges measured times by simulated ones, whoever simulated them.
Diagnosis judge(const SystemSpec& system, std::vector<ExpectedCurve> healthy);
/// Looks for the cause. Requires: the verdict is not kAsExpected; the curves are those of d.tested.
void find_cause(Diagnosis& d, std::vector<LossCause> causes, std::span<const CauseCurves> curves);

/// Simulates what was measured, and the causes where something is lost.
sim::Result<Diagnosis> diagnose(const SystemPtr& system, std::span<const MeasuredCurve> measured,
                                const DoctorProgress& progress = {}, const AllowedChoice& allowed = {});

}  // namespace infold::study
