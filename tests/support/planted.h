// Logs as a machine with a known cause would give them, and how often the doctor names it.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sim/random.h"
#include "study/doctor/diagnosis.h"

namespace infold::study {

/// Normally distributed with this deviation, nearly: the sum of twelve.
inline double noisy(double us, double deviation, sim::Random& random) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += static_cast<double>(random.below(1'000'001)) * 1e-6;
  return us * (1 + deviation * sum);
}

inline std::vector<ExpectedCurve> measured_as(const std::vector<ExpectedCurve>& healthy,
                                              const std::vector<Times>& times, double noise,
                                              sim::Random& random) {
  std::vector<ExpectedCurve> out = healthy;
  for (std::size_t c = 0; c < out.size(); ++c) {
    for (std::size_t p = 0; p < out[c].measured.points.size(); ++p)
      out[c].measured.points[p].us = noisy(times[c][p], noise, random);
  }
  return out;
}

/// How often a cause was planted and named. Causes that cost less than the model's own error cannot be seen
/// and are counted apart.
struct Planted {
  int seen = 0;
  int named = 0;
  int among = 0;   ///< named as one that the log cannot tell from the first
  int wrong = 0;   ///< another one was named
  int hidden = 0;  ///< degrees of causes
  std::map<std::string, std::pair<int, int>> by_cause;  ///< seen and named
};

struct PlantedSystem {
  SystemPtr system;
  std::vector<ExpectedCurve> healthy;
  std::vector<LossCause> causes;
  std::vector<CauseCurves> curves;

  std::vector<Times> expected() const {
    std::vector<Times> times;
    for (const ExpectedCurve& curve : healthy) times.push_back(curve.expected);
    return times;
  }
  Diagnosis diagnosis(const std::vector<Times>& times, double noise, std::uint64_t seed) const {
    sim::Random random(seed);
    Diagnosis d = judge(*system, measured_as(healthy, times, noise, random));
    if (d.verdict != Verdict::kAsExpected) find_cause(d, causes, curves);
    return d;
  }
  Planted plant(int seeds) const {
    Planted count;
    for (std::size_t i = 0; i < curves.size(); ++i) {
      const std::string id(causes[curves[i].cause].id);
      const std::string degree = id + ": " + causes[curves[i].cause].variants[curves[i].variant].label;
      if (diagnosis(curves[i].times, 0, 1).verdict == Verdict::kAsExpected) {
        ++count.hidden;
        continue;
      }
      for (int seed = 1; seed <= seeds; ++seed) {
        const Diagnosis d =
            diagnosis(curves[i].times, 0.03, 1000 * (i + 1) + static_cast<std::uint64_t>(seed));
        const bool lost = d.verdict == Verdict::kLost;
        const bool named = lost && d.causes[d.fits.front().cause].id == id;
        const bool among = lost && std::ranges::any_of(d.same_as, [&](std::size_t k) {
                             return d.causes[d.fits[k].cause].id == id;
                           });
        ++count.seen;
        count.named += named ? 1 : 0;
        count.among += among ? 1 : 0;
        count.wrong += lost && !named && !among ? 1 : 0;
        ++count.by_cause[degree].first;
        count.by_cause[degree].second += named ? 1 : 0;
      }
    }
    return count;
  }
  int healthy_ones(int seeds) const {
    int good = 0;
    for (int seed = 1; seed <= seeds; ++seed)
      good += diagnosis(expected(), 0.03, static_cast<std::uint64_t>(seed)).verdict == Verdict::kAsExpected;
    return good;
  }
};

/// Simulates one all-reduce log of a machine once; logs with noise are made of it.
inline PlantedSystem planted_system(const SystemPtr& system, const std::vector<MeasuredCurve>& curves) {
  PlantedSystem out;
  out.system = system;
  auto healthy = simulate_healthy(system, curves);
  EXPECT_TRUE(healthy) << healthy.error().message;
  out.healthy = *healthy;
  out.causes = causes_of(*system);
  auto simulated = simulate_causes(system, out.healthy, out.causes);
  EXPECT_TRUE(simulated) << simulated.error().message;
  out.curves = *simulated;
  return out;
}

inline MeasuredCurve all_reduce_sizes(int gpus, sim::Bytes from, sim::Bytes to, int factor) {
  MeasuredCurve curve;
  curve.gpus = gpus;
  for (sim::Bytes bytes = from; bytes <= to; bytes = bytes * factor) curve.points.push_back({bytes, 1});
  return curve;
}

}  // namespace infold::study
