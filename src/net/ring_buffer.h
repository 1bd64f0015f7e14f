// A first-in-first-out buffer of values that grows and is then reused: sequential in memory, so that a
// simulator that walks hundreds of them at once stays within its caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace infold::net {

template <class T>
class RingBuffer {
 public:
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == slots_.size(); }
  std::size_t size() const { return count_; }
  T& front() { return slots_[first_]; }
  const T& front() const { return slots_[first_]; }
  /// The i-th oldest.
  T& operator[](std::size_t i) { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  const T& operator[](std::size_t i) const { return slots_[(first_ + i) & (slots_.size() - 1)]; }
  void pop() {
    first_ = static_cast<std::uint32_t>((first_ + 1) & (slots_.size() - 1));
    --count_;
  }
  void push(const T& value) {
    if (full()) grow();
    slots_[(first_ + count_) & (slots_.size() - 1)] = value;
    ++count_;
  }

 private:
  void grow() {
    std::vector<T> larger(slots_.empty() ? 8 : slots_.size() * 2);  // a power of two
    for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move((*this)[i]);
    slots_ = std::move(larger);
    first_ = 0;
  }
  std::vector<T> slots_;
  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
};

}  // namespace infold::net
