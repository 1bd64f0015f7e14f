// A first-in-first-out buffer of values that grows and is then reused: sequential in memory, so that a
// simulator that walks hundreds of them at once stays within its caches.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace infold::sim {

template <class T>
class RingBuffer {
 public:
  bool empty() const { return count_ == 0; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(count_); }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  T& back() { return (*this)[size() - 1]; }
  /// The i-th oldest.
  T& operator[](std::uint32_t i) { return slots_[(first_ + i) & mask()]; }
  const T& operator[](std::uint32_t i) const { return slots_[(first_ + i) & mask()]; }
  void pop() {
    // An empty buffer starts anew where it began, in a cache line that the host is likely to have. (A mask is
    // used and no condition, because a branch could not be predicted.)
    const auto more = static_cast<std::uint32_t>(--count_ != 0);
    first_ = (first_ + 1) & mask() & (0U - more);
  }
  /// Removes the newest.
  void pop_back() { --count_; }
  void push(const T& value) {
    if (count_ > last_) grow();
    slots_[(first_ + size()) & mask()] = value;
    ++count_;
  }

 private:
  std::uint32_t mask() const { return static_cast<std::uint32_t>(last_); }
  /// Makes room for twice as many.
  [[gnu::cold, gnu::noinline]] void grow() {
    const std::uint32_t larger = count_ == 0 ? 2 : size() * 2;  // always a power of two
    auto slots = std::make_unique<T[]>(larger);
    for (std::uint32_t i = 0; i < size(); ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    last_ = static_cast<std::int32_t>(larger - 1);
    first_ = 0;
  }

  std::unique_ptr<T[]> slots_;
  std::int32_t last_ = -1;  // the last slot, which is also what wraps a number of a slot; -1: there are none
  std::uint32_t first_ = 0;
  std::int32_t count_ = 0;
};

}  // namespace infold::sim
