// Strong types for the basic quantities: time, bytes, rates, clocks. All are integers, so results do not
// depend on the build type or the machine.
#pragma once

#include <compare>
#include <cstdint>
#include <limits>

namespace infold::sim {

/// A point in simulated time or a span of it, in whole picoseconds.
class Time {
 public:
  constexpr Time() = default;
  static constexpr Time ps(std::int64_t v) { return Time{v}; }
  static constexpr Time ns(std::int64_t v) { return Time{v * 1'000}; }
  static constexpr Time us(std::int64_t v) { return Time{v * 1'000'000}; }
  /// The far future: later than anything a run schedules.
  static constexpr Time never() { return Time{std::numeric_limits<std::int64_t>::max() >> 4}; }

  constexpr std::int64_t count_ps() const { return ps_; }
  constexpr double in_us() const { return static_cast<double>(ps_) * 1e-6; }
  constexpr double in_s() const { return static_cast<double>(ps_) * 1e-12; }

  constexpr auto operator<=>(const Time&) const = default;
  constexpr Time operator+(Time o) const { return Time{ps_ + o.ps_}; }
  constexpr Time operator-(Time o) const { return Time{ps_ - o.ps_}; }
  constexpr Time operator*(std::int64_t n) const { return Time{ps_ * n}; }
  constexpr Time operator/(std::int64_t n) const { return Time{ps_ / n}; }
  constexpr Time& operator+=(Time o) { return ps_ += o.ps_, *this; }

 private:
  explicit constexpr Time(std::int64_t v) : ps_(v) {}
  std::int64_t ps_ = 0;
};

constexpr Time max(Time a, Time b) {
  return a < b ? b : a;
}
constexpr Time min(Time a, Time b) {
  return a < b ? a : b;
}

/// An amount of data.
class Bytes {
 public:
  constexpr Bytes() = default;
  explicit constexpr Bytes(std::int64_t v) : n_(v) {}
  static constexpr Bytes kib(std::int64_t v) { return Bytes{v << 10}; }
  static constexpr Bytes mib(std::int64_t v) { return Bytes{v << 20}; }
  static constexpr Bytes gib(std::int64_t v) { return Bytes{v << 30}; }

  constexpr std::int64_t count() const { return n_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes o) const { return Bytes{n_ + o.n_}; }
  constexpr Bytes operator-(Bytes o) const { return Bytes{n_ - o.n_}; }
  constexpr Bytes operator*(std::int64_t n) const { return Bytes{n_ * n}; }
  constexpr Bytes operator/(std::int64_t n) const { return Bytes{n_ / n}; }
  constexpr Bytes& operator+=(Bytes o) { return n_ += o.n_, *this; }
  constexpr Bytes& operator-=(Bytes o) { return n_ -= o.n_, *this; }

 private:
  std::int64_t n_ = 0;
};

constexpr Bytes min(Bytes a, Bytes b) {
  return a < b ? a : b;
}
constexpr Bytes max(Bytes a, Bytes b) {
  return a < b ? b : a;
}

/// A rate in bytes per second.
class Bandwidth {
 public:
  constexpr Bandwidth() = default;
  static constexpr Bandwidth bytes_per_s(std::int64_t v) { return Bandwidth{v}; }
  static constexpr Bandwidth gb_per_s(std::int64_t v) { return Bandwidth{v * 1'000'000'000}; }
  constexpr std::int64_t count_bytes_per_s() const { return v_; }
  constexpr double in_gbps() const { return static_cast<double>(v_) * 1e-9; }
  constexpr auto operator<=>(const Bandwidth&) const = default;
  constexpr Bandwidth operator*(std::int64_t n) const { return Bandwidth{v_ * n}; }

 private:
  explicit constexpr Bandwidth(std::int64_t v) : v_(v) {}
  std::int64_t v_ = 0;
};

/// A rate in cycles per second.
class Frequency {
 public:
  constexpr Frequency() = default;
  static constexpr Frequency hz(std::int64_t v) { return Frequency{v}; }
  static constexpr Frequency mhz(std::int64_t v) { return Frequency{v * 1'000'000}; }
  constexpr std::int64_t count_hz() const { return v_; }
  constexpr auto operator<=>(const Frequency&) const = default;

 private:
  explicit constexpr Frequency(std::int64_t v) : v_(v) {}
  std::int64_t v_ = 0;
};

/// A bandwidth that is converted to time per byte once, so that the hot path costs one multiplication.
class Pace {
 public:
  constexpr Pace() = default;
  /// Requires: rate > 0.
  explicit constexpr Pace(Bandwidth rate) {
    const Wide one_second_ps = Wide{1'000'000'000'000} << kFraction;
    const auto per_s = static_cast<Wide>(rate.count_bytes_per_s());
    q_ = static_cast<std::uint64_t>((one_second_ps + per_s / 2) / per_s);
  }
  /// Requires: n >= 0.
  constexpr Time time(Bytes n) const {
    const Wide bytes = static_cast<std::uint64_t>(n.count());  // without a sign it is one multiplication
    return Time::ps(static_cast<std::int64_t>((bytes * q_ + kHalf) >> kFraction));
  }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr int kFraction = 24;
  static constexpr Wide kHalf = Wide{1} << (kFraction - 1);
  std::uint64_t q_ = 0;  // picoseconds per byte, in 2^-24ths
};

namespace literals {
constexpr Time operator""_ps(unsigned long long v) {
  return Time::ps(static_cast<std::int64_t>(v));
}
constexpr Time operator""_ns(unsigned long long v) {
  return Time::ns(static_cast<std::int64_t>(v));
}
constexpr Time operator""_us(unsigned long long v) {
  return Time::us(static_cast<std::int64_t>(v));
}
constexpr Bytes operator""_B(unsigned long long v) {
  return Bytes{static_cast<std::int64_t>(v)};
}
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes::kib(static_cast<std::int64_t>(v));
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes::mib(static_cast<std::int64_t>(v));
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes::gib(static_cast<std::int64_t>(v));
}
constexpr Bandwidth operator""_GBps(unsigned long long v) {
  return Bandwidth::gb_per_s(static_cast<std::int64_t>(v));
}
constexpr Frequency operator""_MHz(unsigned long long v) {
  return Frequency::mhz(static_cast<std::int64_t>(v));
}
}  // namespace literals

}  // namespace infold::sim
