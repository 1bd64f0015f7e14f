// A set of waiting inputs that is served in turn: each gets its go before any gets a second.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

namespace infold::net {

class RoundRobin {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit RoundRobin(int inputs)
      : rest_(inputs > 128 ? new std::uint64_t[words_for(inputs)]() : nullptr), words_(words_for(inputs)) {}

  bool any() const { return waiting_ != 0; }
  bool has(std::uint32_t input) const { return (word(input / 64) >> (input % 64) & 1U) != 0; }
  void add(std::uint32_t input) {
    word(input / 64) |= std::uint64_t{1} << (input % 64);
    ++waiting_;
  }
  void remove(std::uint32_t input) {
    word(input / 64) &= ~(std::uint64_t{1} << (input % 64));
    --waiting_;
  }
  void served(std::uint32_t input) { turn_ = static_cast<std::uint16_t>(input + 1); }

  /// The first waiting input that is ready, starting at the one whose turn it is; kNone if none is.
  template <class Ready>
  std::uint32_t find(Ready ready) const {
    if (words_ == 1) {
      // The common chip: turn the word so that its turn comes first.
      for (std::uint64_t bits = std::rotr(first_[0], turn_); bits != 0; bits &= bits - 1) {
        const std::uint32_t input = (turn_ + static_cast<std::uint32_t>(std::countr_zero(bits))) % 64;
        if (ready(input)) return input;
      }
      return kNone;
    }
    std::uint32_t at = turn_ / 64U == words_ ? 0 : turn_ / 64U;
    const std::uint64_t from_turn = ~std::uint64_t{0} << (turn_ % 64);
    for (std::uint64_t bits = word(at) & from_turn; bits != 0; bits &= bits - 1) {
      const std::uint32_t input = number(at, bits);
      if (ready(input)) return input;
    }
    for (std::uint32_t left = words_; left > 0; --left) {
      at = at + 1 == words_ ? 0 : at + 1;
      std::uint64_t bits = word(at);
      if (left == 1) bits &= ~from_turn;  // once round: what lies before the turn
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t input = number(at, bits);
        if (ready(input)) return input;
      }
    }
    return kNone;
  }

 private:
  static std::uint16_t words_for(int inputs) { return static_cast<std::uint16_t>((inputs + 63) / 64); }
  static std::uint32_t number(std::uint32_t word, std::uint64_t bits) {
    return word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  std::uint64_t& word(std::uint32_t i) { return i < 2 ? first_[i] : rest_[i]; }
  std::uint64_t word(std::uint32_t i) const { return i < 2 ? first_[i] : rest_[i]; }

  std::array<std::uint64_t, 2> first_{};  // most chips have at most 128 inputs: no second look-up for them
  std::unique_ptr<std::uint64_t[]> rest_;
  std::uint16_t waiting_ = 0;
  std::uint16_t words_;
  std::uint16_t turn_ = 0;  // behind the last input stands for the first
};

}  // namespace infold::net
