// The conversions behind assign(): whole numbers, truth values, lists; quantities are in units.cpp.
#include "config/yaml/field_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>

namespace infold::config {
namespace {

constexpr double kLargestPercentage = 1'000'000;

}  // namespace

sim::Result<int> parse_int(std::string_view text) {
  text = trimmed(text);
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) return sim::fail(quote(text) + " is too large");
  if (error != std::errc{} || stop != end) return sim::fail("expected a whole number, not " + quote(text));
  return value;
}

sim::Result<bool> parse_bool(std::string_view text) {
  text = trimmed(text);
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return sim::fail("expected true or false, not " + quote(text));
}

std::string format(int v) {
  return std::to_string(v);
}
std::string format(bool v) {
  return v ? "true" : "false";
}
std::string format(const std::vector<int>& v) {
  return fmt::format("[{}]", fmt::join(v, ", "));
}

template <>
sim::Result<int> parse_as(std::string_view text, Dialect /*dialect*/) {
  return parse_int(text);
}
template <>
sim::Result<sim::Time> parse_as(std::string_view text, Dialect /*dialect*/) {
  return parse_time(text);
}
template <>
sim::Result<sim::Bytes> parse_as(std::string_view text, Dialect dialect) {
  return dialect == Dialect::kFile ? parse_bytes(text) : parse_size(text);
}
template <>
sim::Result<sim::Bandwidth> parse_as(std::string_view text, Dialect /*dialect*/) {
  return parse_bandwidth(text);
}
template <>
sim::Result<sim::Frequency> parse_as(std::string_view text, Dialect /*dialect*/) {
  return parse_frequency(text);
}

sim::Result<std::optional<double>> parse_percent(std::string_view text) {
  text = trimmed(text);
  if (text.empty() || text.back() != '%') return std::nullopt;
  const std::string_view number = trimmed(text.substr(0, text.size() - 1));
  double value = 0;
  const char* const end = number.data() + number.size();
  const auto [stop, error] = std::from_chars(number.data(), end, value);
  if (error != std::errc{} || stop != end || !(value > 0) || !(value <= kLargestPercentage)) {
    return sim::fail(fmt::format("expected a percentage above 0 and up to {:.0f}, not {}", kLargestPercentage,
                                 quote(text)));
  }
  return value / 100;
}

namespace {
/// Rounds to the nearest whole number; the range of no parameter comes near the limits.
std::int64_t scaled_count(std::int64_t v, double share) {
  const double product = std::round(static_cast<double>(v) * share);
  constexpr double kMost = 9e18;
  return static_cast<std::int64_t>(std::clamp(product, -kMost, kMost));
}
}  // namespace

int scaled(int v, double share) {
  const std::int64_t most = std::numeric_limits<int>::max();
  return static_cast<int>(std::clamp(scaled_count(v, share), -most, most));
}
sim::Time scaled(sim::Time v, double share) {
  return sim::Time::ps(scaled_count(v.count_ps(), share));
}
sim::Bytes scaled(sim::Bytes v, double share) {
  return sim::Bytes{scaled_count(v.count(), share)};
}
sim::Bandwidth scaled(sim::Bandwidth v, double share) {
  return sim::Bandwidth::bytes_per_s(scaled_count(v.count_bytes_per_s(), share));
}
sim::Frequency scaled(sim::Frequency v, double share) {
  return sim::Frequency::hz(scaled_count(v.count_hz(), share));
}

sim::Status assign(std::string_view name, std::span<const std::string_view> texts, std::vector<int>& field,
                   const sim::Range<int>& range) {
  if (texts.size() > kLongestList) {
    return sim::fail(fmt::format("{}: a list of {} numbers; the longest allowed has {}", name, texts.size(),
                                 kLongestList));
  }
  std::vector<int> values;
  for (const std::string_view text : texts) {
    int value = 0;
    // An element of a list has no previous value that a percentage could refer to.
    if (auto assigned = assign(name, text, Dialect::kFile, value, range); !assigned) return assigned;
    values.push_back(value);
  }
  field = std::move(values);
  return {};
}

sim::Status assign(std::string_view name, std::string_view text, bool& field) {
  const auto value = parse_bool(text);
  if (!value) return sim::fail(sim::prefixed(name, value.error()));
  field = *value;
  return {};
}

sim::Status assign(std::string_view name, std::string_view text, std::string& field) {
  return assign_words(name, text, 256, field);
}

sim::Status assign_words(std::string_view name, std::string_view text, std::size_t longest,
                         std::string& field) {
  if (has_control_character(text))
    return sim::fail(fmt::format("{}: line breaks and control characters are not allowed", name));
  if (text.size() > longest) return sim::fail(fmt::format("{}: longer than {} characters", name, longest));
  field = text;
  return {};
}

}  // namespace infold::config
