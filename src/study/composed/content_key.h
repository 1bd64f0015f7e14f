// A name for content: two 64-bit hashes over everything that a result depends on. Equal content has an equal
// key, and other content another, as far as there is no attacker.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/params.h"
#include "sim/units.h"

namespace infold::study::composed {

class ContentKey {
 public:
  void add(std::string_view bytes) {
    add(static_cast<std::int64_t>(bytes.size()));
    for (const char c : bytes) mix(static_cast<unsigned char>(c));
  }
  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void add(T value) {
    const auto v = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 64; i += 8) mix(static_cast<unsigned char>(v >> i));
  }
  void add(double value) { add(number(value)); }
  void add(sim::Time t) { add(t.count_ps()); }
  void add(sim::Bytes b) { add(b.count()); }
  void add(sim::Bandwidth b) { add(b.count_bytes_per_s()); }
  void add(sim::Frequency f) { add(f.count_hz()); }
  template <class T>
  void add(const std::vector<T>& values) {
    add(static_cast<std::int64_t>(values.size()));
    for (const T& v : values) add(v);
  }

  // As a visitor of parameters (sim/params.h), it takes in their names and values.
  template <class T, class... Rest>
  void field(std::string_view name, const T& value, const Rest&... /*meaning*/) {
    add(name);
    if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      add(std::string_view(value));
    } else {
      add(value);
    }
  }
  template <class T>
  void group(std::string_view name, T& values) {
    add(name);
    values.visit(*this);
  }

  /// 32 hexadecimal digits.
  std::string text() const;

 private:
  static std::int64_t number(double value);
  void mix(unsigned char byte) {
    first_ = (first_ ^ byte) * 1099511628211U;
    second_ = (second_ + byte) * 6364136223846793005U + 1442695040888963407U;
    second_ ^= second_ >> 29;
  }

  std::uint64_t first_ = 14695981039346656037U;
  std::uint64_t second_ = 88172645463325252U;
};

}  // namespace infold::study::composed
