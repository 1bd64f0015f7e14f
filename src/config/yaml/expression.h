// Whole-number expressions in model files: "4 * width", "(width + 2) / 2". Exact: a division that leaves a
// remainder is refused, and so is whatever leaves the range of numbers a model can need.
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

/// Results, also those in between, lie between plus and minus this.
inline constexpr std::int64_t kLargestNumber = 1'000'000'000'000;

sim::Result<std::int64_t> evaluate(std::string_view text, const Scope& scope);

/// A word that can stand in an expression: letters, digits and _, not first a digit.
bool is_identifier(std::string_view text);

}  // namespace infold::config
