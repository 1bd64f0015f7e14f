// What a unit is sending: each sum or held packet with the copies that have not left yet. A packet on its way
// out names its place here in Packet::source, which means nothing to its receiver.
#pragma once

#include <cstdint>
#include <vector>

#include "inc/reduction_table.h"
#include "sim/check.h"

namespace infold::inc {

class Outgoing {
 public:
  static constexpr std::uint16_t kNone = 0xffff;

  struct Slot {
    Held held;  ///< its space in the input buffer is released at the end; `in` is kNoLink for a sum
    std::uint32_t port = 0;   ///< port of a sum
    std::int32_t room = 0;    ///< bytes of the result buffer that a sum takes
    std::int32_t copies = 0;  ///< copies that have not left yet
    sim::Time end;            ///< when the last copy so far has left
    std::uint16_t next_free = kNone;
  };

  std::uint16_t take() {
    ++used_;
    if (free_ == kNone) {
      // Input buffers and result buffers hold far fewer packets than that.
      INFOLD_CHECK(slots_.size() < kNone, "a switch sends fewer than 65535 packets of its own at a time");
      slots_.emplace_back();
      return static_cast<std::uint16_t>(slots_.size() - 1);
    }
    const std::uint16_t id = free_;
    free_ = slots_[id].next_free;
    slots_[id] = Slot{};
    return id;
  }
  void give_back(std::uint16_t id) {
    --used_;
    slots_[id].next_free = free_;
    free_ = id;
  }
  Slot& operator[](std::uint16_t id) { return slots_[id]; }
  std::size_t used() const { return used_; }

 private:
  std::vector<Slot> slots_;
  std::uint16_t free_ = kNone;
  std::size_t used_ = 0;
};

}  // namespace infold::inc
