// How evenly collectives of the same size that ran at once shared the machine.
#pragma once

#include <vector>

#include "sim/units.h"

namespace infold::study {

struct Fairness {
  double jain = 1;  ///< Jain's index of their bandwidths: 1 if all are equal, 1/n if one had everything
  /// The least that the last to end can have moved when the first ended, as a share of what the first had
  /// moved.
  double least = 1;
  double last_after_first = 0;  ///< how much later the last ended, as a share of the time of the first
};

/// `ends` says when each was through; all began at the same time. The machine is assumed to be as busy before
/// the first end as after it, which makes `least` the smallest share that the ends allow.
inline Fairness fairness_of(const std::vector<sim::Time>& ends) {
  Fairness f;
  double sum = 0;
  double squares = 0;
  sim::Time first = sim::Time::never();
  sim::Time last;
  for (const sim::Time end : ends) {
    if (end == sim::Time{}) return f;
    sum += 1 / end.in_us();
    squares += 1 / (end.in_us() * end.in_us());
    first = sim::min(first, end);
    last = sim::max(last, end);
  }
  if (ends.size() < 2) return f;
  const auto n = static_cast<double>(ends.size());
  f.last_after_first = last.in_us() / first.in_us() - 1;
  f.jain = sum * sum / (n * squares);
  // By then all of them together had moved n · first / last of the bytes of one, and none of them more than
  // all of its own.
  const double moved = n * first.in_us() / last.in_us();
  f.least = moved > n - 1 ? moved - (n - 1) : 0;
  return f;
}

}  // namespace infold::study
