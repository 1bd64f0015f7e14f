// A pool: values with numbers, which are taken, given back and used again. It allocates only when more are
// taken than ever before, so in steady state it does not. What was given back last is taken first, because
// the host's caches are likely to have it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

#include "sim/check.h"

namespace infold::sim {

/// Debug builds check that no number is used before it was taken or after it was given back.
template <class T, class Id = std::uint32_t, class Slots = std::vector<T>>
class Pool {
 public:
  /// No value has this number.
  static constexpr Id kNone = std::numeric_limits<Id>::max();

  /// A number that is not in use. Its value is as its last user left it, with the memory that it holds.
  Id take() {
    if (free_.empty()) add_slot();
    const Id id = free_.back();
    free_.pop_back();
    mark(id, true);
    return id;
  }
  /// The same, with this value.
  Id take(T value) {
    const Id id = take();
    slots_[id] = std::move(value);
    return id;
  }
  void give_back(Id id) {
    mark(id, false);
    free_.push_back(id);
  }

  /// Valid until the next take(); in a StablePool until the pool ends.
  T& operator[](Id id) {
    INFOLD_DCHECK(taken_[id], "only what was taken is used");
    return slots_[id];
  }
  const T& operator[](Id id) const {
    INFOLD_DCHECK(taken_[id], "only what was taken is used");
    return slots_[id];
  }

  /// The number of values that are taken.
  std::size_t used() const { return slots_.size() - free_.size(); }
  /// All values, also those that are not taken, which are as their last users left them.
  const Slots& slots() const { return slots_; }
  /// Reserves memory for a number of slots. Requires: the slots are a vector.
  void reserve(std::size_t values) {
    slots_.reserve(values);
    free_.reserve(values);
  }

 private:
  [[gnu::cold, gnu::noinline]] void add_slot() {
    INFOLD_CHECK(slots_.size() < static_cast<std::size_t>(kNone), "a pool has a number for each value");
    const auto id = static_cast<Id>(slots_.size());
    slots_.emplace_back();
    // All of them can be given back without an allocation.
    if (free_.capacity() < slots_.size()) free_.reserve(2 * slots_.size());
    free_.push_back(id);
  }

#ifdef NDEBUG
  void mark(Id, bool) {}
#else
  void mark(Id id, bool taken) {
    if (taken_.size() < slots_.size()) taken_.resize(slots_.size());
    INFOLD_CHECK(id < taken_.size() && taken_[id] != taken, "what is given back was taken, and once");
    taken_[id] = taken;
  }
  std::vector<bool> taken_;
#endif
  Slots slots_;
  std::vector<Id> free_;
};

/// A pool whose values stay where they are when others are taken.
template <class T, class Id = std::uint32_t>
using StablePool = Pool<T, Id, std::deque<T>>;

}  // namespace infold::sim
