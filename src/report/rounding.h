// How many decimals numbers have in JSON: enough to compare, few enough to read.
#pragma once

#include <cmath>

#include "sim/units.h"

namespace infold::report {

/// Six decimals of a millisecond are one nanosecond.
inline double ms(sim::Time t) {
  return std::round(t.in_us() * 1e3) / 1e6;
}
/// Six decimals of a microsecond or GB/s are finer than a picosecond or a byte per second, so nothing is
/// lost.
inline double rounded(double v) {
  return std::round(v * 1e6) / 1e6;
}
inline double to_thousandths(double v) {
  return std::round(v * 1e3) / 1e3;
}

}  // namespace infold::report
