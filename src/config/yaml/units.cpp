// A decimal number is kept as digits and a power of ten until the unit is known. Only then is it multiplied
// out, in 128 bits, and the result must be whole.
#include "config/yaml/units.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "config/yaml/suggest.h"
#include "config/yaml/text.h"
#include "sim/find_named.h"

namespace infold::config {
namespace {

__extension__ using Wide = __int128;

struct Unit {
  std::string_view name;
  std::int64_t scale;
  bool canonical = true;  ///< also used for output
};

struct Family {
  std::string_view smallest;  ///< "bytes", for "is not a whole number of bytes"
  std::string_view example;   ///< the unit to show when one is missing
  std::string_view zero;
  std::span<const Unit> units;
};

constexpr std::int64_t kK = 1'000;
constexpr std::int64_t kM = 1'000'000;
constexpr std::int64_t kG = 1'000'000'000;
constexpr std::int64_t kT = 1'000'000'000'000;
constexpr std::int64_t kKi = std::int64_t{1} << 10;
constexpr std::int64_t kMi = std::int64_t{1} << 20;
constexpr std::int64_t kGi = std::int64_t{1} << 30;
constexpr std::int64_t kTi = std::int64_t{1} << 40;

// Larger units come later: of two texts of the same length the later one is preferred.
constexpr std::array kTimeUnits = {Unit{"ps", 1},  Unit{"ns", kK}, Unit{"\u00b5s", kM, false},
                                   Unit{"us", kM}, Unit{"ms", kG}, Unit{"s", kT}};
constexpr std::array kByteUnits = {Unit{"B", 1},   Unit{"kB", kK, false}, Unit{"KB", kK}, Unit{"KiB", kKi},
                                   Unit{"MB", kM}, Unit{"MiB", kMi},      Unit{"GB", kG}, Unit{"GiB", kGi},
                                   Unit{"TB", kT}, Unit{"TiB", kTi}};
constexpr std::array kRateUnits = {Unit{"B/s", 1},   Unit{"kB/s", kK, false}, Unit{"KB/s", kK},
                                   Unit{"MB/s", kM}, Unit{"GB/s", kG},        Unit{"TB/s", kT}};
constexpr std::array kClockUnits = {Unit{"Hz", 1}, Unit{"kHz", kK}, Unit{"MHz", kM}, Unit{"GHz", kG}};
constexpr std::array kSizeUnits = {Unit{"K", kKi}, Unit{"k", kKi}, Unit{"M", kMi}, Unit{"m", kMi},
                                   Unit{"G", kGi}, Unit{"g", kGi}, Unit{"T", kTi}, Unit{"t", kTi}};

constexpr Family kTimes{"picoseconds", "ns", "0 ns", kTimeUnits};
constexpr Family kSizes{"bytes", "KiB", "0 B", kByteUnits};
constexpr Family kRates{"bytes per second", "GB/s", "0 B/s", kRateUnits};
constexpr Family kClocks{"hertz", "GHz", "0 Hz", kClockUnits};

/// value = digits / 10^places
struct Decimal {
  std::string digits;
  std::size_t places = 0;
};

/// The text cut into its number and what follows.
struct Split {
  bool negative = false;
  std::string_view number;
  std::string_view unit;
};

Split split(std::string_view text) {
  Split out;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    out.negative = text[0] == '-';
    text.remove_prefix(1);
  }
  std::size_t end = 0;
  while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
  out.number = text.substr(0, end);
  out.unit = trimmed(text.substr(end));
  return out;
}

std::optional<Decimal> decimal(std::string_view number) {
  const std::size_t point = number.find('.');
  const std::string_view whole = number.substr(0, point);
  std::string_view fraction = point == std::string_view::npos ? "" : number.substr(point + 1);
  if (fraction.find('.') != std::string_view::npos || whole.empty()) return std::nullopt;
  if (point != std::string_view::npos && fraction.empty()) return std::nullopt;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  std::string digits = std::string(whole) + std::string(fraction);
  digits.erase(0, digits.find_first_not_of('0'));
  return Decimal{std::move(digits), fraction.size()};
}

sim::Failure too_large(std::string_view text) {
  return sim::fail(fmt::format("{} is too large", quote(text)));
}

/// The number of smallest units. `text` is what the user wrote.
sim::Result<std::int64_t> multiply(std::string_view text, const Decimal& d, std::int64_t scale,
                                   std::string_view smallest) {
  const auto not_whole = sim::fail(fmt::format("{} is not a whole number of {}", quote(text), smallest));
  // No unit is finer than a 10^12th or 2^40th of another, so longer fractions cannot come out whole.
  if (d.places > 40 && !d.digits.empty()) return not_whole;
  Wide value = 0;
  for (const char c : d.digits) {
    if (__builtin_mul_overflow(value, Wide{10}, &value) ||
        __builtin_add_overflow(value, Wide{c - '0'}, &value)) {
      return d.digits.size() > d.places + 19 ? too_large(text) : not_whole;
    }
  }
  if (__builtin_mul_overflow(value, Wide{scale}, &value)) {
    return d.digits.size() > d.places + 19 || d.places == 0 ? too_large(text) : not_whole;
  }
  for (std::size_t i = 0; i < d.places; ++i) {
    if (value % 10 != 0) return not_whole;
    value /= 10;
  }
  if (value > std::numeric_limits<std::int64_t>::max()) return too_large(text);
  return static_cast<std::int64_t>(value);
}

sim::Failure unknown_unit(std::string_view text, std::string_view unit, const Family& family) {
  std::vector<std::string_view> names;
  std::string list;
  for (const Unit& u : family.units) {
    if (!u.canonical) continue;
    names.push_back(u.name);
    list += (list.empty() ? "" : ", ") + std::string(u.name);
  }
  std::string hint = did_you_mean(unit, names);
  if (hint.empty()) hint = fmt::format(" (units: {})", list);
  return sim::fail(fmt::format("unknown unit {} in {}{}", quote(unit), quote(text), hint));
}

/// With `sizes`, a missing unit means the smallest one, and K, M, G, T are understood.
sim::Result<std::int64_t> parse(std::string_view raw, const Family& family, bool sizes) {
  const std::string_view text = trimmed(raw);
  const Split s = split(text);
  const auto number = decimal(s.number);
  if (!number) {
    return sim::fail(fmt::format("{} is not a number with a unit (write for example '25 {}')", quote(text),
                                 family.example));
  }
  if (s.negative && !number->digits.empty()) return sim::fail(fmt::format("{} is negative", quote(text)));
  if (s.unit.empty()) {
    if (sizes) return multiply(text, *number, 1, family.smallest);
    return sim::fail(fmt::format("{} has no unit (write for example '{} {}')", quote(text),
                                 s.number.size() > 20 ? "25" : s.number, family.example));
  }
  const Unit* unit = sim::find_named(family.units, s.unit);
  if (unit == nullptr && sizes) unit = sim::find_named(kSizeUnits, s.unit);
  if (unit == nullptr) return unknown_unit(text, s.unit, family);
  return multiply(text, *number, unit->scale, family.smallest);
}

/// value / scale as a decimal, if it ends within a few places.
std::optional<std::string> quotient(std::int64_t value, std::int64_t scale) {
  constexpr int kPlaces = 12;
  std::string text = fmt::format("{}", value / scale);
  Wide rest = value % scale;
  if (rest != 0) text += '.';
  for (int i = 0; i < kPlaces && rest != 0; ++i) {
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / scale));
    rest %= scale;
  }
  return rest == 0 ? std::optional(text) : std::nullopt;
}

std::string shortest(std::int64_t value, const Family& family) {
  if (value == 0) return std::string(family.zero);
  std::string best;
  for (const Unit& u : family.units) {
    // 0.1 ms would be as short as 100 us, but is not customary.
    if (!u.canonical || value < u.scale) continue;
    const auto number = quotient(value, u.scale);
    if (!number) continue;
    std::string text = fmt::format("{} {}", *number, u.name);
    if (best.empty() || text.size() <= best.size()) best = std::move(text);
  }
  return best;
}

}  // namespace

sim::Result<sim::Time> parse_time(std::string_view text) {
  return parse(text, kTimes, false).map([](std::int64_t v) { return sim::Time::ps(v); });
}

sim::Result<sim::Bytes> parse_bytes(std::string_view text) {
  return parse(text, kSizes, false).map([](std::int64_t v) { return sim::Bytes{v}; });
}

sim::Result<sim::Bytes> parse_size(std::string_view text) {
  return parse(text, kSizes, true).map([](std::int64_t v) { return sim::Bytes{v}; });
}

sim::Result<sim::Bandwidth> parse_bandwidth(std::string_view text) {
  return parse(text, kRates, false).map([](std::int64_t v) { return sim::Bandwidth::bytes_per_s(v); });
}

sim::Result<sim::Frequency> parse_frequency(std::string_view text) {
  return parse(text, kClocks, false).map([](std::int64_t v) { return sim::Frequency::hz(v); });
}

bool lacks_unit(std::string_view text) {
  const Split s = split(trimmed(text));
  return !s.negative && s.unit.empty() && decimal(s.number).has_value();
}

namespace {
std::vector<std::string_view> names_in(const Family& family) {
  std::vector<std::string_view> names = {family.example};
  for (auto u = family.units.rbegin(); u != family.units.rend(); ++u) {
    if (u->canonical && u->name != family.example) names.push_back(u->name);
  }
  return names;
}
}  // namespace

std::vector<std::string_view> units_of(sim::Time) {
  return names_in(kTimes);
}
std::vector<std::string_view> units_of(sim::Bytes) {
  return names_in(kSizes);
}
std::vector<std::string_view> units_of(sim::Bandwidth) {
  return names_in(kRates);
}
std::vector<std::string_view> units_of(sim::Frequency) {
  return names_in(kClocks);
}

std::string format(sim::Time t) {
  return shortest(t.count_ps(), kTimes);
}
std::string format(sim::Bytes n) {
  return shortest(n.count(), kSizes);
}
std::string format(sim::Bandwidth rate) {
  return shortest(rate.count_bytes_per_s(), kRates);
}
std::string format(sim::Frequency f) {
  return shortest(f.count_hz(), kClocks);
}

}  // namespace infold::config
