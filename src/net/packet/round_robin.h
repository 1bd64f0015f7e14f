// A set of waiting inputs that are served in turn: each gets its turn before any gets a second one.
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
  /// Gives the turn to the first input, as at the beginning.
  void start_anew() { turn_ = 0; }
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
    if (words_ == 2) {
      // A switch of up to 128 ports: no loop. Few inputs wait at a time, mostly in one word.
      const std::uint32_t at = turn_ / 64U % 2;
      const std::uint64_t before_turn = (std::uint64_t{1} << (turn_ % 64)) - 1;
      std::uint32_t found = first_of(at, first_[at] & ~before_turn, ready);
      if (found == kNone) found = first_of(at ^ 1U, first_[at ^ 1U], ready);
      return found != kNone ? found : first_of(at, first_[at] & before_turn, ready);
    }
    std::uint32_t at = turn_ / 64U == words_ ? 0 : turn_ / 64U;
    const std::uint64_t from_turn = ~std::uint64_t{0} << (turn_ % 64);
    std::uint32_t found = first_of(at, word(at) & from_turn, ready);
    for (std::uint32_t left = words_; found == kNone && left > 1U; --left) {
      at = at + 1 == words_ ? 0 : at + 1;
      found = first_of(at, word(at), ready);
    }
    at = at + 1 == words_ ? 0 : at + 1;
    // The inputs before the turn come last.
    return found != kNone ? found : first_of(at, word(at) & ~from_turn, ready);
  }

 private:
  static std::uint16_t words_for(int inputs) { return static_cast<std::uint16_t>((inputs + 63) / 64); }
  /// The first of these bits of that word whose input is ready; kNone if none is.
  template <class Ready>
  [[gnu::always_inline]] static std::uint32_t first_of(std::uint32_t word, std::uint64_t bits, Ready& ready) {
    for (; bits != 0; bits &= bits - 1) {
      const std::uint32_t input = word * 64 + static_cast<std::uint32_t>(std::countr_zero(bits));
      if (ready(input)) return input;
    }
    return kNone;
  }
  std::uint64_t& word(std::uint32_t i) { return i < 2 ? first_[i] : rest_[i]; }
  std::uint64_t word(std::uint32_t i) const { return i < 2 ? first_[i] : rest_[i]; }

  std::array<std::uint64_t, 2> first_{};  // most chips have at most 128 inputs: no second look-up for them
  std::unique_ptr<std::uint64_t[]> rest_;
  std::uint16_t waiting_ = 0;
  std::uint16_t words_;
  std::uint16_t turn_ = 0;  // the number behind the last input stands for the first
};

}  // namespace infold::net
