// On whose behalf the hardware of a GPU is used, and which kinds of hardware are shared.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace infold::gpu {

/// Every access to memory and every use of an SM is made on behalf of one of these.
enum class Actor : std::uint8_t { kCompute, kCollective, kCopy };
inline constexpr std::size_t kActors = 3;

constexpr std::size_t index_of(Actor a) {
  return static_cast<std::size_t>(a);
}

/// One value per actor; the values add up to the total.
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

/// Which resources actors share. Where a resource is off, every actor has a copy of it for itself, so with
/// all of them off no actor is affected by the others.
struct Contention {
  bool sm = true;
  bool l2 = true;
  bool hbm = true;
  bool link = true;
};

}  // namespace infold::gpu
