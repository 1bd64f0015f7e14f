// A connection: the buffer at a receiver that one rank fills for another on one channel, slot by slot.
// The sender may run ahead by the number of slots; flags tell the receiver what is there (tail) and the
// sender what was taken (head), as in NCCL's Simple protocol. With flags inside the data there is no tail:
// the receiver sees the data themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "coll/engine/landed.h"
#include "gpu/signals.h"
#include "sim/units.h"

namespace infold::coll {

class Runner;

struct Connection {
  int from = 0;  ///< ranks
  int to = 0;
  std::uint64_t address = 0;  ///< of the buffer, for the spread over links
  std::uint64_t buffer = 0;   ///< the same in the receiver's memory
  gpu::SignalId tail_flag = 0;
  gpu::SignalId head_flag = 0;

  // The sender's side, in slices since the start.
  std::uint64_t sent = 0;       ///< moves begun
  std::uint64_t announced = 0;  ///< tail flags sent: every slice before is visible at the receiver
  std::uint64_t freed = 0;      ///< head flags seen
  std::vector<bool> complete;   ///< per slot: visible, not yet announced (acknowledgements come in any order)

  std::vector<bool> silent;  ///< per slot: no flag announces it

  // The receiver's side.
  std::uint64_t arrived = 0;  ///< tail flags seen
  std::uint64_t taken = 0;    ///< slices consumed
  Runner* receiver = nullptr;
  std::vector<Landed> landed;  ///< per slot, if data carry their flags

  std::vector<std::vector<std::byte>> values;  ///< functional mode: what the slots hold
};

}  // namespace infold::coll
