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
  std::uint32_t size() const { return count_; }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  T& back() { return (*this)[count_ - 1]; }
  /// The i-th oldest.
  T& operator[](std::uint32_t i) { return slots_[(first_ + i) & (capacity_ - 1)]; }
  const T& operator[](std::uint32_t i) const { return slots_[(first_ + i) & (capacity_ - 1)]; }
  void pop() {
    // An empty buffer starts anew where it began, in a cache line that the host is likely to have. (A mask is
    // used and no condition, because a branch could not be predicted.)
    const auto more = static_cast<std::uint32_t>(--count_ != 0);
    first_ = (first_ + 1) & (capacity_ - 1) & (0U - more);
  }
  /// Removes the newest.
  void pop_back() { --count_; }
  void push(const T& value) {
    if (count_ == capacity_) grow();
    slots_[(first_ + count_) & (capacity_ - 1)] = value;
    ++count_;
  }

 private:
  /// Makes room for twice as many.
  [[gnu::cold, gnu::noinline]] void grow() {
    const std::uint32_t larger = capacity_ == 0 ? 2 : capacity_ * 2;  // always a power of two
    auto slots = std::make_unique<T[]>(larger);
    for (std::uint32_t i = 0; i < count_; ++i) slots[i] = std::move((*this)[i]);
    slots_ = std::move(slots);
    capacity_ = larger;
    first_ = 0;
  }

  std::unique_ptr<T[]> slots_;
  std::uint32_t capacity_ = 0;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace infold::sim
