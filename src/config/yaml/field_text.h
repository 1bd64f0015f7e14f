// Converts text to a parameter and back, with one set of types, ranges and messages for YAML files and for
// --set.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "config/yaml/units.h"
#include "sim/params.h"
#include "sim/result.h"
#include "sim/units.h"

namespace infold::config {

/// In files every unit must be written; on the command line a plain number of bytes is allowed.
enum class Dialect { kFile, kCommandLine };

inline constexpr std::size_t kLongestList = 1024;

sim::Result<int> parse_int(std::string_view text);
sim::Result<bool> parse_bool(std::string_view text);

std::string format(int v);
std::string format(bool v);
std::string format(const std::vector<int>& v);

// The functions below fail with an error that says what is wrong with a value, without a place.

/// Parses a whole number or a quantity of the type asked for.
template <class T>
sim::Result<T> parse_as(std::string_view text, Dialect dialect);
template <>
sim::Result<int> parse_as(std::string_view text, Dialect dialect);
template <>
sim::Result<sim::Time> parse_as(std::string_view text, Dialect dialect);
template <>
sim::Result<sim::Bytes> parse_as(std::string_view text, Dialect dialect);
template <>
sim::Result<sim::Bandwidth> parse_as(std::string_view text, Dialect dialect);
template <>
sim::Result<sim::Frequency> parse_as(std::string_view text, Dialect dialect);

/// Reads "110%" as a share of the present value; nothing if the text is not a percentage.
sim::Result<std::optional<double>> parse_percent(std::string_view text);
int scaled(int v, double share);
sim::Time scaled(sim::Time v, double share);
sim::Bytes scaled(sim::Bytes v, double share);
sim::Bandwidth scaled(sim::Bandwidth v, double share);
sim::Frequency scaled(sim::Frequency v, double share);

/// For a number without a unit, suggests the same number with a unit that the field may have, or the field's
/// maximum if there is none.
template <class T>
std::string with_unit(std::string_view text, const sim::Range<T>& range) {
  constexpr std::size_t kLongest = 20;  // digits that are worth repeating
  if (text.size() > kLongest) return format(range.max);
  for (const std::string_view unit : units_of(T{})) {
    std::string example = fmt::format("{} {}", trimmed(text), unit);
    const sim::Result<T> value = parse_as<T>(example, Dialect::kFile);
    if (value && range.holds(*value)) return example;
  }
  return format(range.max);
}

/// Sets a field from text, or leaves it unchanged and says why. On the command line, a percentage refers to
/// the present value.
template <class T>
sim::Status assign(std::string_view name, std::string_view text, Dialect dialect, T& field,
                   const sim::Range<T>& range) {
  sim::Result<std::optional<double>> share;
  if (dialect == Dialect::kCommandLine) share = parse_percent(text);
  if (!share) return sim::fail(sim::prefixed(name, share.error()));
  const sim::Result<T> value = *share ? scaled(field, **share) : parse_as<T>(text, dialect);
  if constexpr (!std::is_same_v<T, int>) {
    if (!value && lacks_unit(text)) {
      return sim::fail(fmt::format("{}: {} has no unit (write for example '{}')", name, quote(trimmed(text)),
                                   with_unit(text, range)));
    }
  }
  if (!value) return sim::fail(sim::prefixed(name, value.error()));
  if (!range.holds(*value)) {
    return sim::fail(fmt::format("{} must be between {} and {}, not {}", name, format(range.min),
                                 format(range.max), format(*value)));
  }
  field = *value;
  return {};
}

/// Sets a list; each element must lie in the range.
sim::Status assign(std::string_view name, std::span<const std::string_view> texts, std::vector<int>& field,
                   const sim::Range<int>& range);

template <sim::NamedEnum E>
sim::Status assign(std::string_view name, std::string_view text, E& field) {
  std::vector<std::string_view> known;
  for (const auto& n : names_of(field)) {
    if (n.name == text) {
      field = n.value;
      return {};
    }
    known.push_back(n.name);
  }
  std::string hint = did_you_mean(text, known);
  if (hint.empty()) hint = fmt::format(" (one of {})", fmt::join(known, ", "));
  return sim::fail(fmt::format("{}: unknown value {}{}", name, quote(text), hint));
}

sim::Status assign(std::string_view name, std::string_view text, bool& field);
sim::Status assign(std::string_view name, std::string_view text, std::string& field);

/// Sets a text that people read: it has a bounded length, is on one line and has no control characters.
sim::Status assign_words(std::string_view name, std::string_view text, std::size_t longest,
                         std::string& field);

}  // namespace infold::config
