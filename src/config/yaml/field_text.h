// Converts text to a parameter and back, with one set of types, ranges and messages for YAML files and for
// --set.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "config/yaml/units.h"
#include "sim/params.h"
#include "sim/units.h"

namespace infold::config {

/// In files every unit must be written; on the command line a plain number of bytes is allowed.
enum class Dialect { kFile, kCommandLine };

inline constexpr std::size_t kLongestList = 1024;

/// What is wrong with a value, in words without a position; nothing when the value was accepted.
using Complaint = std::optional<std::string>;

Parsed<int> parse_int(std::string_view text);
Parsed<bool> parse_bool(std::string_view text);

std::string format(int v);
std::string format(bool v);
std::string format(const std::vector<int>& v);

Complaint parse_as(std::string_view text, Dialect dialect, int& out);
Complaint parse_as(std::string_view text, Dialect dialect, sim::Time& out);
Complaint parse_as(std::string_view text, Dialect dialect, sim::Bytes& out);
Complaint parse_as(std::string_view text, Dialect dialect, sim::Bandwidth& out);
Complaint parse_as(std::string_view text, Dialect dialect, sim::Frequency& out);

/// "110%" of an existing value; nothing when the text is not a percentage.
Complaint parse_percent(std::string_view text, std::optional<double>& share);
int scaled(int v, double share);
sim::Time scaled(sim::Time v, double share);
sim::Bytes scaled(sim::Bytes v, double share);
sim::Bandwidth scaled(sim::Bandwidth v, double share);
sim::Frequency scaled(sim::Frequency v, double share);

/// Sets a field from text, or leaves it unchanged and says why. On the command line a percentage refers to
/// the previous value.
template <class T>
Complaint assign(std::string_view name, std::string_view text, Dialect dialect, T& field,
                 const sim::Range<T>& range) {
  T value{};
  std::optional<double> share;
  if (dialect == Dialect::kCommandLine) {
    if (auto complaint = parse_percent(text, share)) return fmt::format("{}: {}", name, *complaint);
  }
  if (share) {
    value = scaled(field, *share);
  } else if (auto complaint = parse_as(text, dialect, value)) {
    return fmt::format("{}: {}", name, *complaint);
  }
  if (!range.holds(value)) {
    return fmt::format("{} must be between {} and {}, not {}", name, format(range.min), format(range.max),
                       format(value));
  }
  field = value;
  return std::nullopt;
}

/// Each element must lie in the range.
Complaint assign(std::string_view name, std::span<const std::string_view> texts, std::vector<int>& field,
                 const sim::Range<int>& range);

template <sim::NamedEnum E>
Complaint assign(std::string_view name, std::string_view text, E& field) {
  std::vector<std::string_view> known;
  for (const auto& n : names_of(field)) {
    if (n.name == text) {
      field = n.value;
      return std::nullopt;
    }
    known.push_back(n.name);
  }
  std::string hint = did_you_mean(text, known);
  if (hint.empty()) hint = fmt::format(" (one of {})", fmt::join(known, ", "));
  return fmt::format("{}: unknown value {}{}", name, quote(text), hint);
}

Complaint assign(std::string_view name, std::string_view text, bool& field);
Complaint assign(std::string_view name, std::string_view text, std::string& field);

/// Text that people read: of bounded length, on one line, without control characters.
Complaint assign_words(std::string_view name, std::string_view text, std::size_t longest, std::string& field);

}  // namespace infold::config
