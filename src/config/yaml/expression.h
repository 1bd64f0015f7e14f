// Whole-number expressions in model files: "4 * width", "(width + 2) / 2". They are exact: a division that
// leaves a remainder is refused, and so is every value outside the range of numbers that a model can need.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "config/yaml/units.h"
#include "sim/result.h"

namespace infold::config {

/// Names that expressions may use.
using Scope = std::map<std::string, std::int64_t, std::less<>>;

/// Results, also intermediate ones, lie between plus and minus this.
inline constexpr std::int64_t kLargestNumber = 1'000'000'000'000;

sim::Result<std::int64_t> evaluate(std::string_view text, const Scope& scope);

/// A word that can be used in an expression: letters, digits and _, and the first is not a digit.
bool is_identifier(std::string_view text);

}  // namespace infold::config
