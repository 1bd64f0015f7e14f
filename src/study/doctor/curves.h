// The times that a machine needs for what was measured, as it should be and with each cause, simulated.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/result.h"
#include "study/collective/choice.h"
#include "study/doctor/causes.h"
#include "study/doctor/measured_curve.h"
#include "study/prepared_system.h"

namespace infold::study {

/// The times of a measured curve's points, in their order, in microseconds.
using Times = std::vector<double>;

/// A curve and what the machine should give.
struct ExpectedCurve {
  MeasuredCurve measured;            ///< without the points that are not compared
  std::vector<Choice> offers;        ///< what the library can choose from
  std::vector<Times> times;          ///< of each offer
  std::vector<std::size_t> choices;  ///< the offer that is fastest at each point
  Times expected;                    ///< the times of those
};

/// A degree of a cause, and the times of all curves with it.
struct CauseCurves {
  std::size_t cause = 0;    ///< the place in Curves::causes
  std::size_t variant = 0;  ///< and in its variants
  std::vector<Times> times;
};

/// Whether the library may choose this for a collective; if empty, it may choose anything.
using AllowedChoice = std::function<bool(coll::Collective collective, const Choice& choice)>;

/// Called with what is being simulated and the share that is done; returning false asks to stop.
using DoctorProgress = std::function<bool(const std::string& what, double share)>;

/// A point of a larger size continues the line through this size and half of it, which are simulated: a
/// message of many windows takes as long for each of them. From there on, times that were simulated grow
/// evenly.
sim::Bytes largest_simulated(const Choice& choice, int gpus);

/// Simulates a healthy machine. Of many points some are taken, spread over the sizes. Fails if the machine
/// cannot run what was measured.
sim::Result<std::vector<ExpectedCurve>> simulate_healthy(const SystemPtr& system,
                                                         std::span<const MeasuredCurve> measured,
                                                         const DoctorProgress& progress = {},
                                                         const AllowedChoice& allowed = {});

/// Simulates every degree of every cause. One that this machine cannot have (the last plane is missing) has
/// no curves. Requires: `healthy` is of the same system.
sim::Result<std::vector<CauseCurves>> simulate_causes(const SystemPtr& system,
                                                      std::span<const ExpectedCurve> healthy,
                                                      std::span<const LossCause> causes,
                                                      const DoctorProgress& progress = {});

}  // namespace infold::study
