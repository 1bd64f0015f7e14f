// How a component declares its parameters: once, next to the members themselves.
//
// A spec is a plain struct with
//     static constexpr std::string_view kAbout = "what this component is";
//     template <class V> void visit(V& v) {
//       v.field("latency", latency, sim::between(0_ns, 1_ms), "time a bit needs over the wire");
//       v.group("switch", switch_chip);                 // another spec
//     }
// The YAML reader, `--set path=value`, `infold describe` and the record of what was used are all visitors, so
// a parameter that can be read is always documented, and a documented one is always read.
//
// Field types: bool, int, Time, Bytes, Bandwidth, Frequency, std::vector<int>, std::string and any enum
// that has a `names_of(Enum)` table beside it.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace infold::sim {

/// The values a field may take, both ends included.
template <class T>
struct Range {
  T min;
  T max;
  constexpr bool holds(const T& v) const { return min <= v && v <= max; }
};

template <class T>
constexpr Range<T> between(T min, T max) {
  return {min, max};
}

/// One spelling of an enum value, e.g. {Topology::kTorus, "torus", "GPUs in a wrapped grid"}.
template <class E>
struct Named {
  E value;
  std::string_view name;
  std::string_view meaning;
};
template <class E>
Named(E, std::string_view, std::string_view) -> Named<E>;

/// An enum that lists its spellings: `constexpr std::span<const Named<E>> names_of(E)`.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  { names_of(e) } -> std::convertible_to<std::span<const Named<E>>>;
};

template <NamedEnum E>
constexpr std::string_view name_of(E e) {
  for (const auto& n : names_of(e)) {
    if (n.value == e) return n.name;
  }
  return "?";
}

}  // namespace infold::sim
