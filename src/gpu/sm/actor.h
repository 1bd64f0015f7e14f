// Who uses a GPU's hardware, and which kinds of hardware they are made to share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace infold::gpu {

/// Everything that touches memory or takes an SM does so on behalf of one of these.
enum class Actor : std::uint8_t { kCompute, kCollective, kCopy };
inline constexpr std::size_t kActors = 3;

constexpr std::size_t index_of(Actor a) {
  return static_cast<std::size_t>(a);
}

/// One value an actor; they add up to the total.
template <class T>
struct PerActor {
  std::array<T, kActors> of{};
  T& operator[](Actor a) { return of[index_of(a)]; }
  const T& operator[](Actor a) const { return of[index_of(a)]; }
  T total() const {
    T sum{};
    for (const T& v : of) sum += v;
    return sum;
  }
};

/// Which resources actors share. Where one is off, every actor has a copy of that resource for itself, so
/// with all of them off nobody can tell that the others are there.
struct Contention {
  bool sm = true;
  bool l2 = true;
  bool hbm = true;
  bool link = true;
};

}  // namespace infold::gpu
