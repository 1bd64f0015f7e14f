// A set of waiting inputs that is served in turn: each gets its go before any gets a second.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace infold::net {

class RoundRobin {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit RoundRobin(int inputs) : rest_(inputs > 64 ? static_cast<std::size_t>((inputs - 1) / 64) : 0) {}

  bool any() const { return waiting_ != 0; }
  void add(std::uint32_t input) {
    word(input / 64) |= std::uint64_t{1} << (input % 64);
    ++waiting_;
  }
  void remove(std::uint32_t input) {
    word(input / 64) &= ~(std::uint64_t{1} << (input % 64));
    --waiting_;
  }
  void served(std::uint32_t input) { turn_ = input + 1 == 64 * (rest_.size() + 1) ? 0 : input + 1; }

  /// The first waiting input that is ready, starting at the one whose turn it is; kNone if none is.
  template <class Ready>
  std::uint32_t find(Ready ready) const {
    std::size_t at = turn_ / 64;
    const std::uint64_t from_turn = ~std::uint64_t{0} << (turn_ % 64);
    for (std::uint64_t bits = word(at) & from_turn; bits != 0; bits &= bits - 1) {
      const std::uint32_t input = number(at, bits);
      if (ready(input)) return input;
    }
    for (std::size_t words = rest_.size() + 1; words > 0; --words) {
      at = at == rest_.size() ? 0 : at + 1;
      std::uint64_t bits = word(at);
      if (words == 1) bits &= ~from_turn;  // once round: what lies before the turn
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t input = number(at, bits);
        if (ready(input)) return input;
      }
    }
    return kNone;
  }

 private:
  static std::uint32_t number(std::size_t word, std::uint64_t bits) {
    return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  std::uint64_t& word(std::size_t i) { return i == 0 ? first_ : rest_[i - 1]; }
  std::uint64_t word(std::size_t i) const { return i == 0 ? first_ : rest_[i - 1]; }

  std::uint64_t first_ = 0;  // most chips have at most 64 inputs: no second look-up for them
  std::uint32_t waiting_ = 0;
  std::uint32_t turn_ = 0;
  std::vector<std::uint64_t> rest_;
};

}  // namespace infold::net
