// Exact division by a number that is known long in advance. It costs a multiplication instead of a division,
// which is one of the most expensive instructions of a processor.
#pragma once

#include <cstdint>

namespace infold::sim {

class Divisor {
 public:
  /// Requires: n > 0.
  explicit constexpr Divisor(std::uint64_t n) : n_(n), reciprocal_(~std::uint64_t{0} / n) {}
  constexpr std::uint64_t value() const { return n_; }
  /// The reciprocal is too small by 2^-64 at most, so the quotient is too small by one at most.
  constexpr std::uint64_t quotient(std::uint64_t x) const {
    const auto q = static_cast<std::uint64_t>(static_cast<Wide>(x) * reciprocal_ >> 64);
    return x - q * n_ >= n_ ? q + 1 : q;
  }
  constexpr std::uint64_t remainder(std::uint64_t x) const { return x - quotient(x) * n_; }

 private:
  __extension__ using Wide = unsigned __int128;
  std::uint64_t n_;
  std::uint64_t reciprocal_;
};

}  // namespace infold::sim
