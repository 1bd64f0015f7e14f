// Which message class may wait for which other one, and the proof that no circle of them can form.
//
// A packet waits for packets of its own class on the way it takes (prove_trees proves that this has no
// circle), and at a chip for those of other classes that its own progress depends on. If those waits follow
// an order of classes, there is no circle at all, because a circle would have to stay within one class.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "net/packet/packet.h"

namespace infold::net {

struct ClassWait {
  PacketClass waiting;
  PacketClass waits_for;
};

inline constexpr std::array kClassWaits = {
    // A request waits for a place in a reduction table, which contributions that arrive will free; at a GPU
    // it waits for its reply to be taken.
    ClassWait{PacketClass::kRequest, PacketClass::kContribution},
    ClassWait{PacketClass::kRequest, PacketClass::kData},
    // A contribution waits for results and partial sums to leave the switch.
    ClassWait{PacketClass::kContribution, PacketClass::kData},
    ClassWait{PacketClass::kContribution, PacketClass::kControl},
    // Data waits at its destination for the acknowledgement to be taken. Control waits for no other class.
    ClassWait{PacketClass::kData, PacketClass::kControl},
};

constexpr bool may_wait_for(PacketClass waiting, PacketClass waits_for) {
  for (const ClassWait& w : kClassWaits) {
    if (w.waiting == waiting && w.waits_for == waits_for) return true;
  }
  return false;
}

/// Removes classes that wait for no class that is left, until there is none; classes that cannot be removed
/// wait in a circle.
constexpr bool in_order(std::span<const ClassWait> waits) {
  std::array<bool, kPacketClasses> gone{};
  for (std::size_t round = 0; round < gone.size(); ++round) {
    for (std::size_t c = 0; c < gone.size(); ++c) {
      bool free = true;
      for (const ClassWait& w : waits) {
        if (static_cast<std::size_t>(w.waiting) == c && !gone[static_cast<std::size_t>(w.waits_for)])
          free = false;
      }
      if (free) gone[c] = true;
    }
  }
  for (const bool g : gone) {
    if (!g) return false;
  }
  return true;
}
static_assert(in_order(kClassWaits), "message classes wait for each other in a circle");

}  // namespace infold::net
