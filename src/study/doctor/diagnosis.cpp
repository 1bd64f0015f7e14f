// Distances are absolute logarithms of ratios, so that twice and half as long are equally far off.
#include "study/doctor/diagnosis.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "study/doctor/known_error.h"

namespace infold::study {

namespace {

/// One outlier must not outweigh the rest of a curve.
constexpr double kFarthest = 0.693;  // the logarithm of 2
/// Another cause must be further off than the best by this part, and by no less than the noise leaves.
constexpr double kClearly = 0.3;
constexpr double kSurely = 1.5;  // deviations of a mean

double distance(double a, double b) {
  return std::min(std::abs(std::log(a / b)), kFarthest);
}

/// Calls `see` for every point of every tested curve: with its measured time, the place of the curve among
/// those, and its own place.
template <class See>
void for_points(const Diagnosis& d, const See& see) {
  for (std::size_t c = 0; c < d.tested.size(); ++c) {
    const auto& points = d.curves[d.tested[c]].measured.points;
    for (std::size_t p = 0; p < points.size(); ++p) see(points[p].us, c, p);
  }
}

/// What is expected of the tested curves.
std::vector<Times> expected_of(const Diagnosis& d) {
  std::vector<Times> times;
  for (const std::size_t c : d.tested) times.push_back(d.curves[c].expected);
  return times;
}

/// The curves to test causes on.
std::vector<std::size_t> worth_testing(const std::vector<bool>& slow) {
  constexpr std::size_t kMost = 3;
  std::vector<std::size_t> some;
  for (const bool wanted : {true, false}) {
    const std::size_t most = wanted ? kMost - 1 : some.size() + 1;
    for (std::size_t c = 0; c < slow.size() && some.size() < most; ++c) {
      if (slow[c] == wanted) some.push_back(c);
    }
  }
  for (std::size_t c = 0; c < slow.size() && some.size() < kMost; ++c) {
    if (std::ranges::find(some, c) == some.end()) some.push_back(c);
  }
  std::ranges::sort(some);
  return some;
}

double fit_of(const Diagnosis& d, const std::vector<Times>& times) {
  double sum = 0;
  int points = 0;
  for_points(d, [&](double us, std::size_t c, std::size_t p) {
    sum += distance(us, times[c][p]);
    ++points;
  });
  return points > 0 ? std::expm1(sum / points) : 0;
}

/// Whether two neighbouring sizes, or the only one, are slower than allowed.
bool is_slow(const ExpectedCurve& curve, const Times& allowed) {
  std::size_t in_a_row = 0;
  const auto& points = curve.measured.points;
  for (std::size_t p = 0; p < points.size(); ++p) {
    in_a_row = points[p].us > allowed[p] ? in_a_row + 1 : 0;
    if (in_a_row == std::min<std::size_t>(2, points.size())) return true;
  }
  return false;
}

/// How the other compares with the best where the two differ by more than noise.
struct Duel {
  int points = 0;
  double best = 0;
  double other = 0;
  bool clear() const {
    // The mean of many points is surer than that of few.
    return points > 0 && other - best >= std::max(kClearly * best, kSurely * kNoise / std::sqrt(points));
  }
};
Duel compare(const Diagnosis& d, const CauseFit& best, const CauseFit& other) {
  Duel duel;
  for_points(d, [&](double us, std::size_t c, std::size_t p) {
    if (distance(best.times[c][p], other.times[c][p]) <= kNoise) return;
    duel.best += distance(us, best.times[c][p]);
    duel.other += distance(us, other.times[c][p]);
    ++duel.points;
  });
  if (duel.points > 0) {
    duel.best /= duel.points;
    duel.other /= duel.points;
  }
  return duel;
}

/// Whether a machine with the cause would be called as expected, by the mean.
bool explains(const Diagnosis& d, const CauseFit& fit) {
  double allowed = 0;
  int points = 0;
  for_points(d, [&](double, std::size_t c, std::size_t p) {
    const std::size_t curve = d.tested[c];
    allowed += distance(d.allowed[curve][p], d.curves[curve].expected[p]);
    ++points;
  });
  return std::log1p(fit.fit) <= allowed / points;
}

bool are_kin(const Diagnosis& d, const CauseFit& a, const CauseFit& b) {
  const std::string_view kin = d.causes[a.cause].kin;
  return !kin.empty() && kin == d.causes[b.cause].kin;
}

/// Of kin that give the very same times, the simpler one is named, which comes first among causes.
void prefer_simpler(Diagnosis& d) {
  std::size_t first = 0;
  for (std::size_t i = 1; i < d.fits.size(); ++i) {
    const bool same = d.fits[i].fit - d.fits[0].fit < kNoise / 20;
    if (same && are_kin(d, d.fits[0], d.fits[i]) && d.fits[i].cause < d.fits[first].cause) first = i;
  }
  std::swap(d.fits[0], d.fits[first]);
}

}  // namespace

Diagnosis judge(const SystemSpec& system, std::vector<ExpectedCurve> healthy) {
  Diagnosis d;
  d.curves = std::move(healthy);
  bool any = false;
  for (const ExpectedCurve& curve : d.curves) {
    Times& allowed = d.allowed.emplace_back();
    for (std::size_t p = 0; p < curve.expected.size(); ++p) {
      allowed.push_back(curve.expected[p] *
                        (1 + known_error(system, curve.measured.collective, curve.measured.points[p].bytes)) *
                        (1 + kNoise));
    }
    d.slow.push_back(is_slow(curve, allowed));
    any = any || d.slow.back();
  }
  d.tested.resize(d.curves.size());
  std::iota(d.tested.begin(), d.tested.end(), std::size_t{0});
  if (any) d.tested = worth_testing(d.slow);
  d.fit = fit_of(d, expected_of(d));
  d.verdict = any ? Verdict::kUnclear : Verdict::kAsExpected;
  return d;
}

void find_cause(Diagnosis& d, std::vector<LossCause> causes, std::span<const CauseCurves> curves) {
  d.causes = std::move(causes);
  for (const CauseCurves& c : curves) {
    CauseFit fit{.cause = c.cause, .variant = c.variant, .fit = fit_of(d, c.times), .times = c.times};
    const auto same = std::ranges::find(d.fits, c.cause, &CauseFit::cause);
    if (same == d.fits.end()) {
      d.fits.push_back(std::move(fit));
    } else if (fit.fit < same->fit) {
      *same = std::move(fit);
    }
  }
  if (d.fits.empty()) return;
  std::ranges::stable_sort(d.fits, {}, &CauseFit::fit);
  prefer_simpler(d);
  const CauseFit& best = d.fits.front();
  if (!explains(d, best)) return;
  double next = 0;
  for (std::size_t i = 1; i < d.fits.size(); ++i) {
    const Duel duel = compare(d, best, d.fits[i]);
    if (!duel.clear()) {
      if (!are_kin(d, best, d.fits[i])) {
        d.same_as.clear();
        return;
      }
      d.same_as.push_back(i);
      continue;
    }
    if (next == 0) next = d.fits[i].fit;
  }
  // Without any cause it must be clearly worse, too.
  const CauseFit none{.cause = 0, .variant = 0, .fit = d.fit, .times = expected_of(d)};
  if (!compare(d, best, none).clear()) {
    d.same_as.clear();
    return;
  }
  d.verdict = Verdict::kLost;
  d.margin = best.fit > 0 ? (next > 0 ? next : d.fit) / best.fit : 0;
}

sim::Result<Diagnosis> diagnose(const SystemPtr& system, std::span<const MeasuredCurve> measured,
                                const DoctorProgress& progress, const AllowedChoice& allowed) {
  auto healthy = simulate_healthy(system, measured, progress, allowed);
  if (!healthy) return sim::fail_as(std::move(healthy));
  Diagnosis d = judge(*system, *std::move(healthy));
  if (d.verdict == Verdict::kAsExpected) return d;
  std::vector<LossCause> causes = causes_of(*system);
  std::vector<ExpectedCurve> tested;
  for (const std::size_t c : d.tested) tested.push_back(d.curves[c]);
  auto curves = simulate_causes(system, tested, causes, progress);
  if (!curves) return sim::fail_as(std::move(curves));
  find_cause(d, std::move(causes), *curves);
  return d;
}

}  // namespace infold::study
