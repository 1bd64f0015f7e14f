// Finds a number by its key, with open addressing. It does not allocate once it has grown to its working
// size.
#pragma once

#include <cstdint>
#include <vector>

#include "inc/tag.h"
#include "sim/random.h"

namespace infold::inc {

class KeyIndex {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t find(Key key) const {
    if (used_ == 0) return kNone;
    for (std::size_t i = start(key);; i = next(i)) {
      if (slots_[i].value == kNone || slots_[i].key == key) return slots_[i].value;
    }
  }
  /// Requires: find(key) == kNone, value != kNone.
  void add(Key key, std::uint32_t value) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    std::size_t i = start(key);
    while (slots_[i].value != kNone) i = next(i);
    slots_[i] = {key, value};
    ++used_;
  }
  /// Requires: find(key) != kNone.
  void remove(Key key) {
    std::size_t hole = start(key);
    while (slots_[hole].key != key || slots_[hole].value == kNone) hole = next(hole);
    // An entry behind the hole that would no longer be found moves into the hole.
    for (std::size_t i = next(hole); slots_[i].value != kNone; i = next(i)) {
      const std::size_t wanted = start(slots_[i].key);
      if (((i - wanted) & mask()) < ((i - hole) & mask())) continue;
      slots_[hole] = slots_[i];
      hole = i;
    }
    slots_[hole].value = kNone;
    --used_;
  }
  std::size_t size() const { return used_; }

 private:
  struct Slot {
    Key key = 0;
    std::uint32_t value = kNone;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t start(Key key) const { return static_cast<std::size_t>(sim::mix(key)) & mask(); }
  std::size_t next(std::size_t i) const { return (i + 1) & mask(); }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 8 : 2 * slots_.size());
    old.swap(slots_);
    used_ = 0;
    for (const Slot& s : old) {
      if (s.value != kNone) add(s.key, s.value);
    }
  }
  std::vector<Slot> slots_;  // the size is a power of two, and the table is at most half full
  std::size_t used_ = 0;
};

}  // namespace infold::inc
