// Points at even angles and growing distance; the second spiral is the first one turned by half a turn.
#include "train/learn/spirals.h"

#include <utility>

#include "sim/random.h"

namespace infold::train {

namespace {

constexpr double kAngle = 1.25 * 6.283185307179586;
constexpr float kInner = 0.15F;
constexpr float kNoise = 0.02F;

/// Draws a number between -1 and 1, uniformly.
float noise(sim::Random& random) {
  return static_cast<float>(random.below(1 << 24)) / static_cast<float>(1 << 23) - 1.0F;
}

/// Cosine and sine by their power series, which every machine rounds in the same way; valid for a few turns
/// at most.
std::pair<float, float> on_circle(double angle) {
  constexpr int kTerms = 48;
  double cosine = 1;
  double sine = 0;
  double term = 1;
  for (int n = 1; n < kTerms; ++n) {
    term *= angle / n;
    const double sign = n % 4 < 2 ? 1 : -1;
    (n % 2 == 0 ? cosine : sine) += sign * term;
  }
  return {static_cast<float>(cosine), static_cast<float>(sine)};
}

}  // namespace

std::vector<Sample> two_spirals(std::size_t points, std::uint64_t seed) {
  sim::Random random(seed);
  std::vector<Sample> samples;
  samples.reserve(points);
  for (std::size_t i = 0; i < points; ++i) {
    const std::size_t pair = i / 2;
    const std::size_t pairs = (points + 1) / 2;
    const float along = static_cast<float>(pair) / static_cast<float>(pairs);
    const float label = i % 2 == 0 ? 1.0F : -1.0F;
    const auto [c, s] = on_circle(static_cast<double>(along) * kAngle);
    const float radius = label * (kInner + (1 - kInner) * along);
    samples.push_back({radius * c + kNoise * noise(random), radius * s + kNoise * noise(random), label});
  }
  for (std::size_t i = samples.size(); i > 1; --i) std::swap(samples[i - 1], samples[random.below(i)]);
  return samples;
}

}  // namespace infold::train
