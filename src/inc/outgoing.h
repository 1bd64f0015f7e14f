// What a unit is sending: each sum or held packet with the copies that have not left yet. A packet on its way
// out has its place here as its ticket, which means nothing to its receiver.
#pragma once

#include <cstdint>

#include "inc/reduction_table.h"
#include "sim/pool.h"

namespace infold::inc {

struct Sending {
  Held held;  ///< its space in the input buffer is released at the end; `in` is kNoLink for a sum
  std::uint32_t port = 0;   ///< port of a sum
  std::int32_t room = 0;    ///< bytes of the result buffer that a sum takes
  std::int32_t copies = 0;  ///< copies that have not left yet
  sim::Time end;            ///< when the last copy so far has left
};
/// Input buffers and result buffers hold far fewer packets than that many numbers.
using Outgoing = sim::Pool<Sending, std::uint16_t>;

}  // namespace infold::inc
