// Each kind of quantity is a whole number of its smallest unit, so a range is a range of integers.
#include "config/sweep_range.h"

#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "config/yaml/field_text.h"

namespace infold::config {

namespace {

/// What a kind of quantity needs: conversion from text to a whole number, and back.
struct Kind {
  std::optional<std::int64_t> (*parse)(std::string_view text);
  std::string (*format)(std::int64_t value);
};

template <class T, class Count>
std::optional<std::int64_t> count_of(const sim::Result<T>& parsed, Count count) {
  return parsed ? std::optional<std::int64_t>(count(*parsed)) : std::nullopt;
}

constexpr Kind kKinds[] = {
    {[](std::string_view t) { return count_of(parse_int(t), [](int v) { return std::int64_t{v}; }); },
     [](std::int64_t v) { return fmt::format("{}", v); }},
    {[](std::string_view t) { return count_of(parse_size(t), [](sim::Bytes v) { return v.count(); }); },
     [](std::int64_t v) { return format(sim::Bytes{v}); }},
    {[](std::string_view t) { return count_of(parse_time(t), [](sim::Time v) { return v.count_ps(); }); },
     [](std::int64_t v) { return format(sim::Time::ps(v)); }},
    {[](std::string_view t) {
       return count_of(parse_bandwidth(t), [](sim::Bandwidth v) { return v.count_bytes_per_s(); });
     },
     [](std::int64_t v) { return format(sim::Bandwidth::bytes_per_s(v)); }},
    {[](std::string_view t) {
       return count_of(parse_frequency(t), [](sim::Frequency v) { return v.count_hz(); });
     },
     [](std::int64_t v) { return format(sim::Frequency::hz(v)); }},
};

sim::Result<std::vector<std::string>> expand(const Kind& kind, std::int64_t from, std::int64_t to,
                                             std::int64_t step, std::int64_t factor, std::size_t most) {
  if (from > to) return sim::fail("'from' is more than 'to'");
  if (factor == 0 && step <= 0) return sim::fail("'step' must be more than 0");
  if (factor > 0 && from <= 0) return sim::fail("'from' must be more than 0 where there is a factor");
  std::vector<std::string> values;
  for (std::int64_t v = from;;) {
    if (values.size() == most) return sim::fail(fmt::format("more than {} values", most));
    values.push_back(kind.format(v));
    if (factor > 0 ? v > to / factor : v > to - step) return values;
    v = factor > 0 ? v * factor : v + step;
  }
}

}  // namespace

sim::Result<std::vector<std::string>> expand_range(const RangeText& range, std::size_t most) {
  std::int64_t factor = 0;
  if (range.step.empty()) {
    const auto parsed = parse_int(range.factor);
    if (!parsed || *parsed < 2)
      return sim::fail(fmt::format("'factor' must be a whole number from 2 on, not {}", quote(range.factor)));
    factor = *parsed;
  }
  for (const Kind& kind : kKinds) {
    const auto from = kind.parse(range.from);
    const auto to = kind.parse(range.to);
    const auto step = range.step.empty() ? std::optional<std::int64_t>(0) : kind.parse(range.step);
    if (from && to && step) return expand(kind, *from, *to, *step, factor, most);
  }
  return sim::fail(fmt::format(
      "{} to {} are not whole numbers, sizes, times, rates or clocks of one kind with their units",
      quote(range.from), quote(range.to)));
}

}  // namespace infold::config
