// "from 1 KiB to 1 MiB by a factor of 2": the values of a range, exact whatever the unit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/units.h"

namespace infold::config {

struct RangeText {
  std::string_view from;
  std::string_view to;
  std::string_view step;    ///< empty if there is a factor
  std::string_view factor;  ///< a whole number, at least 2
};

/// Whole numbers, sizes, times, rates or clocks, all of a kind; both ends are included if they are met.
sim::Result<std::vector<std::string>> expand_range(const RangeText& range, std::size_t most);

}  // namespace infold::config
